import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { anSshKey } from "../../../../../../test/support/ssh-keys.ts";

const { database, pool } = await testDatabase();
const http = await accountsHttp(database);
const KEYS = "/api/v0/ssh/";

const create = (secret: string | undefined, sshKey: unknown, headers = {}) =>
  http.call({ method: "POST", url: KEYS, secret, body: { ssh_key: sshKey }, headers });
const list = async (secret: string) => (await http.call({ url: KEYS, secret })).body;
const change = (secret: string, id: number | string, sshKey: unknown) =>
  http.call({ method: "PUT", url: `${KEYS}${id}/`, secret, body: { id, ssh_key: sshKey } });
const remove = (secret: string, id: number | string) =>
  http.call({ method: "DELETE", url: `${KEYS}${id}/`, secret, body: {} });

test("a key is added, listed under each of its names, replaced under its id, and deleted", async () => {
  const caller = await aCaller(database);
  assert.deepEqual(await list(caller.secret), []);
  const [first, second] = [anSshKey("me@laptop"), anSshKey("me@work")];
  const made = await create(caller.secret, `  ${first}\r\n`);
  assert.equal(made.status, 200, made.text);
  const { id, created_at: createdAt } = made.body.key;
  const record = (key: string) => ({
    id,
    user_id: caller.id,
    key,
    public_key: key,
    ssh_key: key,
    created_at: createdAt,
    deleted_at: null,
  });
  assert.deepEqual(made.body, { success: true, key: record(first) });
  assert.ok(typeof createdAt === "number" && Math.abs(createdAt - Date.now() / 1000) < 60);
  assert.deepEqual(await list(caller.secret), [record(first)]);
  const changed = await change(caller.secret, id, second);
  assert.deepEqual([changed.status, changed.body], [200, { success: true, key: record(second) }]);
  assert.deepEqual(await list(caller.secret), [record(second)]);
  const removed = await remove(caller.secret, id);
  assert.deepEqual([removed.status, removed.body], [200, { success: true }]);
  assert.deepEqual(await list(caller.secret), []);
  const again = await remove(caller.secret, id);
  assert.deepEqual([again.status, again.body.error], [400, "no_ssh_key"]);
  const { rows } = await pool.query("select action, arguments from audit_events where user_id = $1 order by id", [
    caller.id,
  ]);
  const actions = rows.map((row) => row.action);
  assert.deepEqual(actions, ["api.ssh_key.create", "api.ssh_key.update", "api.ssh_key.delete"]);
  assert.match(rows[0].arguments.fingerprint, /^SHA256:/);
});

test("a key that the account already has, also under another comment, keeps its id; another user gets another id", async () => {
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  const line = anSshKey("first");
  const answers = await Promise.all([1, 2, 3].map(() => create(caller.secret, line)));
  const renamed = await create(caller.secret, line.replace(/first$/, "second"));
  for (const answer of [...answers, renamed]) {
    assert.deepEqual([answer.status, answer.body], [200, answers[0]?.body]);
  }
  assert.equal((await list(caller.secret)).length, 1);
  const theirs = await create(other.secret, line);
  assert.notEqual(theirs.body.key.id, renamed.body.key.id);
  // A deleted key can be added again.
  await remove(caller.secret, renamed.body.key.id);
  const second = await create(caller.secret, line);
  assert.equal(second.status, 200);
  assert.notEqual(second.body.key.id, renamed.body.key.id);
});

test("a key cannot become a second one of the same account", async () => {
  const { secret } = await aCaller(database);
  const [one, two] = [anSshKey(), anSshKey()];
  const first = await create(secret, one);
  const second = await create(secret, two);
  const answer = await change(secret, second.body.key.id, one);
  assert.deepEqual([answer.status, answer.body.error], [400, "invalid_ssh_key"]);
  assert.match(answer.body.msg, new RegExp(`\\b${first.body.key.id}\\b`));
  assert.equal((await change(secret, second.body.key.id, `${two} renamed`)).status, 200);
});

test("NULs in a key are removed, as the contract has it", async () => {
  const { secret } = await aCaller(database);
  const line = anSshKey();
  const answer = await create(secret, `${line.slice(0, 20)}\0${line.slice(20)}\0`);
  assert.deepEqual([answer.status, answer.body.key?.key], [200, line]);
});

test("a text that is no public key is refused with the reason, and nothing of it is logged", async () => {
  const { secret } = await aCaller(database);
  const { body } = await create(secret, anSshKey());
  const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAAcanary\n-----END";
  const mistakes: readonly [unknown, string, RegExp][] = [
    [undefined, "no_ssh_key", /required/],
    ["", "no_ssh_key", /required/],
    ["\0", "no_ssh_key", /required/],
    ["not a key", "invalid_ssh_key", /a line such as/],
    [privateKey, "invalid_ssh_key", /this is a private key/],
    [`command="id" ${anSshKey()}`, "invalid_ssh_key", /options/],
    [`${anSshKey()}\n${anSshKey()}`, "invalid_ssh_key", /several lines/],
    ["k".repeat(20_000), "invalid_ssh_key", /more than 16384 characters/],
    [5, "invalid_args", /ssh_key/],
    [["ssh-ed25519"], "invalid_args", /ssh_key/],
  ];
  for (const [sshKey, code, reason] of mistakes) {
    for (const answer of [await create(secret, sshKey), await change(secret, body.key.id, sshKey)]) {
      assert.deepEqual([answer.status, answer.body.error], [400, code], answer.text);
      assert.match(answer.body.msg, reason);
      assert.equal(answer.body.field, "ssh_key");
    }
  }
  assert.ok(!http.logged.join("").includes("AAAAcanary"));
  assert.equal((await list(secret)).length, 1);
});

test("an account has at most 100 keys", async () => {
  const { secret } = await aCaller(database);
  for (let count = 0; count < 100; count += 1) assert.equal((await create(secret, anSshKey())).status, 200);
  const last = await create(secret, anSshKey());
  assert.deepEqual([last.status, last.body.error], [400, "max_ssh_keys"]);
  const keys = await list(secret);
  assert.equal((await create(secret, keys[0].key)).status, 200, "one that is there is no further one");
  await remove(secret, keys[0].id);
  assert.equal((await create(secret, anSshKey())).status, 200);
});

test("another user's key, a deleted one and an absent one look the same", async () => {
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  const theirs = (await create(other.secret, anSshKey())).body.key;
  const gone = (await create(caller.secret, anSshKey())).body.key;
  await remove(caller.secret, gone.id);
  const line = anSshKey();
  for (const act of [(id: number) => change(caller.secret, id, line), (id: number) => remove(caller.secret, id)]) {
    const bodies = new Set<string>();
    for (const id of [theirs.id, gone.id, 2_000_000_000, 3_000_000_000]) {
      const answer = await act(id);
      assert.equal(answer.status, 400);
      bodies.add(JSON.stringify({ ...answer.body, request_id: "" }));
    }
    assert.equal(bodies.size, 1);
  }
  for (const id of ["x", "-1", "1.5"]) {
    const answer = await remove(caller.secret, id);
    assert.deepEqual([answer.status, answer.body.error], [400, "invalid_request"]);
  }
  assert.deepEqual(await list(other.secret), [theirs]);
});

test("a repeated creation under one Idempotency-Key answers the same bytes", async () => {
  const { secret } = await aCaller(database);
  const [line, headers] = [anSshKey(), { "idempotency-key": "ssh-once" }];
  const first = await create(secret, line, headers);
  await remove(secret, first.body.key.id);
  assert.equal((await create(secret, line, headers)).text, first.text);
  assert.deepEqual(await list(secret), []);
  assert.equal((await create(secret, anSshKey(), headers)).status, 409);
});

test("SSH keys need the permission: 401 without a key, 403 without the category", async () => {
  const reader = await aCaller(database, { permissions: { api: { user_read: {} } } });
  const writer = await aCaller(database, { permissions: { api: { user_write: {} } } });
  const routes: readonly [{ method: "GET" | "POST" | "PUT" | "DELETE"; url: string }, string][] = [
    [{ method: "POST", url: KEYS }, reader.secret],
    [{ method: "GET", url: KEYS }, writer.secret],
    [{ method: "PUT", url: `${KEYS}1/` }, reader.secret],
    [{ method: "DELETE", url: `${KEYS}1/` }, reader.secret],
  ];
  for (const [route, secret] of routes) {
    assert.equal((await http.call(route)).status, 401);
    assert.equal((await http.call({ ...route, secret: "berth_wrong" })).status, 401);
    assert.equal((await http.call({ ...route, secret })).status, 403, route.url);
  }
});
