import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller, aKey, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { PermissionDocument } from "../../../../base/identity.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { insertInstanceKeys } from "./store.ts";
import { isWellFormed, newKey } from "./rules/keys.ts";

const { database, pool } = await testDatabase();
const http = await accountsHttp(database);
const KEYS = "/api/v0/auth/apikeys/";

const create = (secret: string | undefined, body: unknown, headers = {}) =>
  http.call({ method: "POST", url: KEYS, secret, body, headers });
const list = async (secret: string) => (await http.call({ url: KEYS, secret })).body.apikeys;
const statusWith = async (secret: string) => (await http.call({ url: "/api/v0/users/current/", secret })).status;

test("a new key works, is shown once, and is stored and listed only as hash and beginning", async () => {
  const caller = await aCaller(database);
  const permissions = { api: { user_read: {}, misc: { "api.audit_log.list": { constraints: { id: { lte: 5 } } } } } };
  const made = await create(caller.secret, { name: "ci", permissions, key_params: { a: [1] } });
  assert.equal(made.status, 200, made.text);
  assert.ok(isWellFormed(made.body.key));
  assert.deepEqual(made.body, { success: true, id: made.body.id, key: made.body.key, permissions });
  assert.equal(await statusWith(made.body.key), 200);

  const [, shown] = await list(caller.secret);
  assert.deepEqual(shown, {
    id: made.body.id,
    user_id: caller.id,
    rights: "scoped",
    team_id: null,
    team_name: null,
    team_owner: null,
    name: "ci",
    key: null,
    key_type: "api",
    key_prefix: made.body.key.slice(0, 12),
    permissions,
    key_params: '{"a":[1]}',
    demands_tfa: false,
    created_at: shown.created_at,
  });
  assert.ok(Math.abs(shown.created_at - Date.now() / 1000) < 60);
  assert.deepEqual((await http.call({ url: `${KEYS}${made.body.id}/`, secret: caller.secret })).body, shown);
  const { rows } = await pool.query(
    "select api_keys::text as row from api_keys union all select audit_events::text from audit_events",
  );
  assert.ok(!JSON.stringify(rows).includes(made.body.key.slice(13)));
  assert.ok(!http.logged.join("").includes(made.body.key));
});

test("without permissions a key has those of the key that created it, and shows false when that is everything", async () => {
  const caller = await aCaller(database);
  assert.equal((await create(caller.secret, { name: "all", permissions: null })).body.permissions, false);
  const permissions: PermissionDocument = { api: { user_write: {}, user_read: {} } };
  const scoped = await inTransaction(database, (tx) => aKey(tx, caller, { permissions }));
  assert.deepEqual((await create(scoped.secret, { name: "same" })).body.permissions, permissions);
});

test("a key cannot create one with more permissions than its own", async () => {
  const permissions: PermissionDocument = {
    api: { user_write: {}, instance_read: { "api.instance.show": { constraints: { id: { lte: 5 } } } } },
  };
  const caller = await aCaller(database, { permissions });
  const tries: readonly [unknown, number][] = [
    [{ api: { user_write: {} } }, 200],
    [{ api: {} }, 200],
    [{ api: { instance_read: { "api.instance.show": { constraints: { id: { eq: 4 } } } } } }, 200],
    [{ api: { instance_read: { "api.instance.show": { constraints: { id: { lte: 6 } } } } } }, 403],
    [{ api: { instance_read: { "api.instance.show": {} } } }, 403],
    [{ api: { instance_read: {} } }, 403],
    [{ api: { misc: {} } }, 403],
    [{ write: true }, 403],
  ];
  for (const [asked, status] of tries) {
    const answer = await create(caller.secret, { name: "n", permissions: asked });
    assert.equal(answer.status, status, JSON.stringify(asked));
    if (status === 403) assert.equal(answer.body.error, "missing_permissions");
  }
});

test("a key with an empty document is stored and shown with it, and may do nothing", async () => {
  const caller = await aCaller(database);
  const made = await create(caller.secret, { name: "nothing", permissions: {} });
  assert.equal(made.status, 200, made.text);
  assert.deepEqual(made.body.permissions, {});
  const [, shown] = await list(caller.secret);
  assert.deepEqual([shown.rights, shown.permissions], ["scoped", {}]);
  const { rows } = await pool.query("select permissions from api_keys where id = $1", [made.body.id]);
  assert.deepEqual(rows, [{ permissions: {} }]);
  for (const url of [KEYS, "/api/v0/users/current/", "/api/v0/audit_logs/", "/api/v0/ssh/"]) {
    assert.equal((await http.call({ url, secret: made.body.key })).status, 403, url);
  }
  assert.equal((await create(made.body.key, { name: "more", permissions: {} })).status, 403);
});

test("a request for a key is checked", async () => {
  const { secret } = await aCaller(database);
  const codes: readonly [unknown, string][] = [
    [{}, "invalid_args"],
    [{ name: "" }, "invalid_args"],
    [{ name: "n".repeat(256) }, "invalid_args"],
    [{ name: 5 }, "invalid_args"],
    [{ name: "n", permissions: "all" }, "invalid_permissions"],
    [{ name: "n", permissions: { api: { everything: {} } } }, "invalid_permissions"],
    [{ name: "n", key_params: 5 }, "invalid_args"],
  ];
  for (const [body, code] of codes) {
    const answer = await create(secret, body);
    assert.deepEqual([answer.status, answer.body.error], [400, code], JSON.stringify(body));
  }
  assert.equal((await list(secret)).length, 1);
  assert.equal((await create(secret, { name: "n".repeat(255) })).status, 200);
});

test("a deleted key is invalid once the answer is there, and gone from the list", async () => {
  const caller = await aCaller(database);
  const { body } = await create(caller.secret, { name: "short-lived" });
  assert.equal(await statusWith(body.key), 200);
  const answer = await http.call({ method: "DELETE", url: `${KEYS}${body.id}/`, secret: caller.secret });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '"Successfully Deleted API Key"');
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(await statusWith(body.key), 401);
  assert.equal((await list(caller.secret)).length, 1);
  const again = await http.call({ method: "DELETE", url: `${KEYS}${body.id}/`, secret: caller.secret });
  assert.deepEqual([again.status, again.body.error], [404, "no_such_api_key"]);
});

test("another user's key, an instance's and an absent one look the same", async () => {
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  const ofInstance = newKey(randomBytes);
  const row = { userId: caller.id, instanceId: asId<InstanceId>(5), ...ofInstance };
  await inTransaction(database, (tx) => insertInstanceKeys(tx, [row]));
  const { rows } = await pool.query("select id from api_keys where key_sha256 = $1", [ofInstance.sha256]);
  const bodies = new Set<string>();
  for (const id of [other.key.id, rows[0].id, 2_000_000_000, 3_000_000_000, "x", "0"]) {
    for (const method of ["GET", "DELETE"] as const) {
      const answer = await http.call({ method, url: `${KEYS}${id}/`, secret: caller.secret });
      assert.equal(answer.status, 404, `${method} ${id}`);
      bodies.add(JSON.stringify({ ...answer.body, request_id: "" }));
    }
  }
  assert.equal(bodies.size, 1);
  assert.equal(await statusWith(other.secret), 200);
  assert.equal((await list(caller.secret)).length, 1);
});

test("reset gives the calling key another secret; the old one is invalid, the permissions stay", async () => {
  const permissions: PermissionDocument = { api: { user_write: {}, user_read: {} } };
  const caller = await aCaller(database, { permissions });
  assert.equal(await statusWith(caller.secret), 200);
  const body = { client_id: "me" };
  const answer = await http.call({ method: "PUT", url: "/api/v0/commands/reset_apikey/", secret: caller.secret, body });
  assert.deepEqual(answer.body, { success: true, new_api_key: answer.body.new_api_key });
  assert.equal(await statusWith(caller.secret), 401);
  assert.equal(await statusWith(answer.body.new_api_key), 200);
  const [only] = await list(answer.body.new_api_key);
  assert.deepEqual([only.id, only.permissions], [caller.key.id, permissions]);
});

test("a repeated creation answers the same key, which is encrypted in the database", async () => {
  const { secret } = await aCaller(database);
  const headers = { "idempotency-key": "create-once" };
  const [first, second] = [
    await create(secret, { name: "once" }, headers),
    await create(secret, { name: "once" }, headers),
  ];
  assert.equal(first.text, second.text);
  assert.equal((await list(secret)).length, 2);
  const { rows } = await pool.query<{ response: Buffer }>("select response from idempotency_keys");
  for (const { response } of rows) assert.ok(!response.includes(first.body.key.slice(13)));
});

test("keys need the permission: 401 without a key, 403 without the category", async () => {
  const reader = await aCaller(database, { permissions: { api: { user_read: {} } } });
  const writer = await aCaller(database, { permissions: { api: { user_write: {} } } });
  const routes: readonly [{ method: "GET" | "POST" | "PUT" | "DELETE"; url: string }, string][] = [
    [{ method: "POST", url: KEYS }, reader.secret],
    [{ method: "GET", url: KEYS }, writer.secret],
    [{ method: "GET", url: `${KEYS}1/` }, writer.secret],
    [{ method: "DELETE", url: `${KEYS}1/` }, reader.secret],
    [{ method: "PUT", url: "/api/v0/commands/reset_apikey/" }, reader.secret],
  ];
  for (const [route, secret] of routes) {
    assert.equal((await http.call(route)).status, 401);
    assert.equal((await http.call({ ...route, secret: "berth_wrong" })).status, 401);
    assert.equal((await http.call({ ...route, secret })).status, 403, route.url);
  }
});
