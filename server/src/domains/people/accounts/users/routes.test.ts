import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller, aKey, aUser, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { anSshKey } from "../../../../../../test/support/ssh-keys.ts";
import { nanos } from "../../../../base/money.ts";
import { isWellFormed } from "../keys/rules/keys.ts";

const { database, pool } = await testDatabase();
const http = await accountsHttp(database);
const USERS = "/api/v0/users/";

const signUp = (body: unknown, secret?: string) => http.call({ method: "POST", url: USERS, body, secret });
const current = async (secret: string) => (await http.call({ url: `${USERS}current`, secret })).body;
const update = (secret: string, body: unknown) => http.call({ method: "PUT", url: USERS, secret, body });
const valid = { email: "new@example.com", username: "new", password: "correct horse" };

test("anybody can create an account, and its first key works at once", async () => {
  const sshKey = anSshKey("me");
  const answer = await signUp({ ...valid, email: "First@Example.COM", ssh_key: `${sshKey}\0\n`, captcha: null });
  assert.equal(answer.status, 200, answer.text);
  const { api_key: secret, ...record } = answer.body;
  assert.ok(isWellFormed(secret));
  const user = await current(secret);
  assert.deepEqual(record, user);
  assert.deepEqual([user.email, user.username], ["first@example.com", "new"]);
  assert.deepEqual([user.ssh_key, user.parent_id], [sshKey, null]);
  const keys = await http.call({ url: "/api/v0/ssh/", secret });
  assert.deepEqual(
    keys.body.map((key: { readonly key: string }) => key.key),
    [sshKey],
  );
});

test("a password is stored as a salted hash with its parameters, and shown nowhere", async () => {
  const first = await signUp({ ...valid, email: "hash1@example.com" });
  const second = await signUp({ ...valid, email: "hash2@example.com" });
  const { rows } = await pool.query("select password_hash from users where id in ($1, $2)", [
    first.body.id,
    second.body.id,
  ]);
  const hashes = rows.map((row) => row.password_hash);
  for (const hash of hashes) assert.match(hash, /^argon2id\$47104\$1\$1\$[\w-]{22}\$[\w-]{43}$/);
  assert.notEqual(hashes[0], hashes[1]);
  const everything = await pool.query(
    "select users::text as row from users union all select audit_events::text from audit_events",
  );
  assert.ok(!JSON.stringify(everything.rows).includes(valid.password));
  assert.ok(!http.logged.join("").includes(valid.password));
});

test("one of two concurrent sign-ups with one address, in any case, gets it", async () => {
  const answers = await Promise.all(
    ["race@example.com", "RACE@example.com", "Race@Example.com"].map((email) => signUp({ ...valid, email })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409, 409],
  );
  const refused = answers.find(({ status }) => status === 409);
  assert.deepEqual([refused?.body.error, refused?.body.msg], ["user_exists", "user already exists."]);
});

test("a request for a new account is checked, each mistake with its code", async () => {
  const codes: readonly [object, string][] = [
    [{ email: undefined }, "invalid_email"],
    [{ email: "" }, "invalid_email"],
    [{ email: "no-at.example.com" }, "invalid_email"],
    [{ email: "a@localhost" }, "invalid_email"],
    [{ email: "a b@example.com" }, "invalid_email"],
    [{ email: "ä@example.com" }, "invalid_email"],
    [{ email: `${"a".repeat(53)}@example.com` }, "invalid_email"],
    [{ username: undefined }, "invalid_request"],
    [{ username: "  " }, "invalid_request"],
    [{ username: "u".repeat(65) }, "invalid_request"],
    [{ username: "a\nb" }, "invalid_request"],
    [{ password: undefined }, "missing_auth_value"],
    [{ password: "" }, "missing_auth_value"],
    [{ password: "p".repeat(257) }, "invalid_request"],
    [{ ssh_key: "k".repeat(4097) }, "invalid_request"],
    [{ ssh_key: "ssh-ed25519 AAAA me" }, "invalid_ssh_key"],
    [{ email: 5 }, "invalid_args"],
    [{ host_only: "yes" }, "invalid_args"],
  ];
  for (const [change, code] of codes) {
    const answer = await signUp({ ...valid, ...change });
    assert.deepEqual([answer.status, answer.body.error], [400, code], JSON.stringify(change));
  }
  const longest = { email: `${"a".repeat(52)}@example.com`, username: "u".repeat(64), password: "p".repeat(256) };
  assert.equal((await signUp(longest)).status, 200);
});

test("a parent makes subaccounts of its own and of nobody else's, and lists them", async () => {
  const parent = await aCaller(database);
  const other = await aCaller(database);
  const made = await signUp({ ...valid, email: "sub1@example.com", parent_id: "me" }, parent.secret);
  assert.equal(made.status, 200, made.text);
  assert.equal((await current(made.body.api_key)).parent_id, parent.id);
  const byId = await signUp({ ...valid, email: "sub2@example.com", parent_id: parent.id }, parent.secret);
  assert.equal(byId.status, 200);
  assert.equal((await signUp({ ...valid, email: "sub3@example.com", parent_id: other.id }, parent.secret)).status, 403);
  assert.equal((await signUp({ ...valid, email: "sub3@example.com", parent_id: "me" })).status, 401);

  const { users } = (await http.call({ url: "/api/v0/subaccounts?owner=me", secret: parent.secret })).body;
  assert.deepEqual(
    users.map((user: Record<string, unknown>) => [user["id"], user["parent_id"], user["key_id"], user["email"]]),
    [
      [made.body.id, parent.id, made.body.key_id, "sub1@example.com"],
      [byId.body.id, parent.id, byId.body.key_id, "sub2@example.com"],
    ],
  );
  assert.ok(!Number.isNaN(Date.parse(users[0].created_at)));
  assert.equal(users[0].deleted_at, null);
  assert.deepEqual((await http.call({ url: "/api/v0/subaccounts/", secret: other.secret })).body, { users: [] });
});

test("signing up needs no key, but a key that is sent must be right and allowed to", async () => {
  assert.equal((await signUp({ ...valid, email: "k1@example.com" }, "berth_wrong")).status, 401);
  const reader = await aCaller(database, { permissions: { api: { user_read: {} } } });
  assert.equal((await signUp({ ...valid, email: "k1@example.com", parent_id: "me" }, reader.secret)).status, 403);
});

test("a host-only account gets a key that rents nothing and can make none that does", async () => {
  const made = await signUp({ ...valid, email: "host@example.com", host_only: true });
  const secret = made.body.api_key;
  assert.equal((await current(secret)).host_only, true);
  const body = { name: "n", permissions: { api: { instance_write: {} } } };
  assert.equal((await http.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret, body })).status, 403);
});

test("the account shows its balance exactly and its credit in whole cents, under both paths", async () => {
  const caller = await aCaller(database);
  http.credit.set(caller.id, nanos(12_345_678_901n));
  const user = await current(caller.secret);
  assert.deepEqual([user.balance, user.credit], [12.345678901, 12.34]);
  assert.deepEqual((await http.call({ url: `${USERS}me/`, secret: caller.secret })).body, user);
  http.credit.set(caller.id, nanos(-5_000_001n));
  assert.equal((await current(caller.secret)).credit, -0.01);
  for (const field of ["billaddress_line1", "billaddress_line2", "billaddress_city", "billaddress_zip", "fullname"]) {
    assert.equal(user[field], "");
  }
  assert.ok(!JSON.stringify(user).includes(caller.secret));
});

test("the account shows the fields that a user sets, and absent fields stay", async () => {
  const caller = await aCaller(database);
  const changes = {
    username: "renamed",
    fullname: "Ada Lovelace",
    ssh_key: anSshKey("ada"),
    billaddress_line1: "1 Main Street",
    billaddress_line2: "",
    billaddress_city: "London",
    billaddress_zip: "N1",
    billaddress_country: "GB",
    taxinfo: "GB123",
    balance_threshold: 2.5,
    balance_threshold_enabled: true,
  };
  const answer = await update(caller.secret, { ...changes, normalized_email: "Ada@Example.com" });
  const user = await current(caller.secret);
  assert.deepEqual(
    answer.body,
    { success: true, msg: answer.body.msg, ...user },
    "the answer is the account as it is now",
  );
  for (const [field, value] of Object.entries(changes)) assert.equal(user[field], value, field);
  assert.equal(user.email, "ada@example.com");
  const keys = await http.call({ url: "/api/v0/ssh/", secret: caller.secret });
  assert.equal(keys.body[0].public_key, changes.ssh_key);
  await update(caller.secret, { fullname: "Ada", billaddress_city: null });
  assert.deepEqual(await current(caller.secret), { ...user, fullname: "Ada" });
});

test("an account that a client keeps as text in a file is set as the same account in JSON types is", async () => {
  const caller = await aCaller(database);
  const inText = { balance_threshold: "2.5", balance_threshold_enabled: "true", billaddress_taxinfo: "GB123" };
  assert.equal((await update(caller.secret, inText)).status, 200);
  const user = await current(caller.secret);
  const { balance_threshold: threshold, balance_threshold_enabled: isEnabled, taxinfo } = user;
  assert.deepEqual([threshold, isEnabled, taxinfo], [2.5, true, "GB123"]);
  await update(caller.secret, { balance_threshold_enabled: "False", taxinfo: "", billaddress_taxinfo: "GB123" });
  assert.deepEqual(await current(caller.secret), { ...user, balance_threshold_enabled: false, taxinfo: "" });
});

test("fields that are not the user's to set are never stored", async () => {
  const caller = await aCaller(database);
  const before = await pool.query("select * from users where id = $1", [caller.id]);
  const readOnly = {
    id: 1,
    user_id: 1,
    email: "other@example.com",
    is_admin: true,
    is_host_only: true,
    host_only: true,
    parent_id: 1,
    password: "x",
    password_hash: "x",
    balance: 1e6,
    credit: 1e6,
    balance_threshold_nanos: 5,
    email_verified: true,
    created_at: 0,
    deleted_at: 0,
    key_id: 1,
    api_key: "x",
  };
  assert.equal((await update(caller.secret, readOnly)).body.error, "missing_input");
  assert.equal((await update(caller.secret, { ...readOnly, fullname: "Ada" })).status, 200);
  const after = await pool.query("select * from users where id = $1", [caller.id]);
  assert.deepEqual(after.rows[0], { ...before.rows[0], fullname: "Ada" });
});

test("the fields that a user sets are checked, each mistake with its code", async () => {
  const caller = await aCaller(database);
  const taken = await inTransaction(database, (tx) => aUser(tx));
  const codes: readonly [unknown, number, string][] = [
    [{}, 400, "missing_input"],
    [{ username: " " }, 400, "empty_input"],
    [{ username: "u".repeat(65) }, 400, "input_too_long"],
    [{ fullname: "f".repeat(257) }, 400, "input_too_long"],
    [{ billaddress_city: "a\tb" }, 400, "invalid_characters"],
    [{ normalized_email: "nobody" }, 400, "invalid_email"],
    [{ normalized_email: taken.email.toUpperCase() }, 409, "user_exists"],
    [{ balance_threshold: -1 }, 400, "invalid_args"],
    [{ balance_threshold: "much" }, 400, "invalid_args"],
    [{ balance_threshold: "-1" }, 400, "invalid_args"],
    [{ balance_threshold: true }, 400, "invalid_args"],
    [{ balance_threshold_enabled: 1 }, 400, "invalid_args"],
    [{ balance_threshold_enabled: "perhaps" }, 400, "invalid_args"],
  ];
  for (const [body, status, code] of codes) {
    const answer = await update(caller.secret, body);
    assert.deepEqual([answer.status, answer.body.error], [status, code], JSON.stringify(body));
  }
});

test("every authenticated request is in the history, this one included, newest address first", async () => {
  const caller = await aCaller(database);
  const { secret } = caller;
  await http.call({ url: `${USERS}current/`, secret, from: "198.51.100.1" });
  await http.call({ url: `${USERS}nothing/at/all/`, secret, from: "198.51.100.2" });
  await http.call({ method: "POST", url: `${USERS}5/ipaddrs/`, secret, from: "198.51.100.3" });
  for (const name of ["me", String(caller.id)]) {
    const answer = await http.call({ url: `${USERS}${name}/ipaddrs/`, secret, from: "2001:db8::7" });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.success, true);
    const [newest, older] = answer.body.results;
    assert.deepEqual(newest, {
      id: newest.id,
      user_id: caller.id,
      ip_address: "2001:db8::7",
      timestamp: newest.timestamp,
      ip: "2001:db8::7",
      first_seen: newest.first_seen,
      first_location: "",
    });
    assert.match(newest.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(older.ip_address, "198.51.100.1");
    assert.equal(answer.body.results.length, 2);
  }
});

test("another user's history is forbidden whether that user exists or not, except to an administrator", async () => {
  const caller = await aCaller(database);
  const other = await aCaller(database);
  const admin = await aCaller(database, { isAdmin: true });
  await http.call({ url: `${USERS}current/`, secret: other.secret, from: "198.51.100.9" });
  const bodies = new Set<string>();
  for (const name of [other.id, 999_999, "you", "0", `0${caller.id}`, "%20me", "-1"]) {
    const answer = await http.call({ url: `${USERS}${name}/ipaddrs/`, secret: caller.secret });
    assert.equal(answer.status, 403, String(name));
    bodies.add(JSON.stringify({ ...answer.body, request_id: "" }));
  }
  assert.equal(bodies.size, 1);
  const seen = await http.call({ url: `${USERS}${other.id}/ipaddrs/`, secret: admin.secret });
  assert.equal(seen.body.results[0].ip_address, "198.51.100.9");
  assert.equal((await http.call({ url: `${USERS}999999/ipaddrs/`, secret: admin.secret })).status, 404);
  const permissions = { api: { user_read: {} } };
  const narrowed = await inTransaction(database, (tx) => aKey(tx, { id: admin.id, isAdmin: true }, { permissions }));
  assert.equal((await http.call({ url: `${USERS}${other.id}/ipaddrs/`, secret: narrowed.secret })).status, 403);
});

test("acts on keys and accounts are in the audit log of their user, without secrets", async () => {
  const caller = await aCaller(database);
  const { secret } = caller;
  await update(secret, { fullname: "Ada" });
  const body = { name: "ci", permissions: { api: { misc: {} } } };
  const made = (await http.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret, body })).body;
  await http.call({ method: "DELETE", url: `/api/v0/auth/apikeys/${made.id}/`, secret, from: "198.51.100.4" });
  const log = (await http.call({ url: "/api/v0/audit_logs/", secret })).body;
  assert.deepEqual(
    log.map((event: Record<string, unknown>) => [event["api_route"], event["api_key_id"], event["ip_address"]]),
    [
      ["api.apikey.delete", caller.key.id, "198.51.100.4"],
      ["api.apikey.create", caller.key.id, "192.0.2.1"],
      ["api.user.update", caller.key.id, "192.0.2.1"],
    ],
  );
  assert.deepEqual(log[2].args, { fields: ["fullname"] });
  assert.deepEqual(log[0].args, { id: made.id });
  assert.equal(typeof log[0].created_at, "number");
  assert.ok(!JSON.stringify(log).includes(made.key.slice(13)));
  assert.deepEqual(
    (await http.call({ url: "/api/v0/audit_logs/", secret: (await aCaller(database)).secret })).body,
    [],
  );
});

test("routes of the account need a key with their category: 401 before 403", async () => {
  const none = await aCaller(database, { permissions: { api: { team_read: {} } } });
  const routes: readonly { method?: "PUT"; url: string }[] = [
    { url: `${USERS}me/ipaddrs/` },
    { url: `${USERS}current/` },
    { url: `${USERS}me/` },
    { method: "PUT", url: USERS },
    { url: "/api/v0/subaccounts/" },
    { url: "/api/v0/audit_logs/" },
  ];
  for (const route of routes) {
    assert.equal((await http.call(route)).status, 401, route.url);
    assert.equal((await http.call({ ...route, secret: "berth_wrong" })).status, 401);
    assert.equal((await http.call({ ...route, secret: none.secret })).status, 403, route.url);
  }
});

test("with closed sign-up, accounts create subaccounts and only administrators create other accounts", async () => {
  const closed = await accountsHttp(database, { isSignupOpen: false });
  const [parent, admin] = [await aCaller(database), await aCaller(database, { isAdmin: true })];
  const ask = (url: string, body: unknown, secret?: string) => closed.call({ method: "POST", url, body, secret });
  const refused = await ask(USERS, { ...valid, email: "closed1@example.com" });
  assert.deepEqual([refused.status, refused.body.error], [403, "signup_closed"]);
  const below = { ...valid, email: "closed2@example.com", parent_id: "me" };
  assert.equal((await ask(USERS, below, parent.secret)).status, 200);
  assert.equal((await ask("/api/v0/admin/users/", { email: "closed3@example.com" }, admin.secret)).status, 200);
});
