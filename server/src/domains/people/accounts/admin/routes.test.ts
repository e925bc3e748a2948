import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller, aKey, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { bootstrapAdmin } from "./bootstrap.ts";
import { findUserByEmailOrId } from "../users/find-user.ts";

const { database } = await testDatabase();
const http = await accountsHttp(database);
const admin = await aCaller(database, { isAdmin: true });

const createUser = (body: unknown, secret: string | undefined = admin.secret) =>
  http.call({ method: "POST", url: "/api/v0/admin/users/", secret, body });
const createKey = (body: unknown, secret: string | undefined = admin.secret) =>
  http.call({ method: "POST", url: "/api/v0/admin/keys/", secret, body });
const statusWith = async (secret: string) => (await http.call({ url: "/api/v0/users/current/", secret })).status;

test("an administrator makes an account with credit and gets its first key", async () => {
  const answer = await createUser({ email: "Renter@Example.com", credit: 25.5 });
  assert.equal(answer.status, 200, answer.text);
  const { id, api_key: secret, key_id: keyId } = answer.body;
  assert.deepEqual(answer.body, { id, email: "renter@example.com", api_key: secret, key_id: keyId });
  const user = (await http.call({ url: "/api/v0/users/current/", secret })).body;
  assert.deepEqual([user.id, user.username, user.credit, user.key_id], [id, "renter", 25.5, keyId]);
  const again = await createUser({ email: "renter@example.com", credit: 25.5 });
  assert.deepEqual([again.status, again.body.error], [409, "user_exists"]);
  assert.equal(http.credit.get(id), 25_500_000_000n);
});

test("an administrator makes keys for a user by address or id, narrowed if asked", async () => {
  const user = await aCaller(database);
  const whole = await createKey({ email: user.email.toUpperCase() });
  assert.deepEqual([whole.status, whole.body.id, whole.body.email], [200, user.id, user.email]);
  assert.equal(await statusWith(whole.body.api_key), 200);
  const narrowed = await createKey({ email: String(user.id), permissions: { api: { misc: {} } }, name: "narrow" });
  assert.equal(await statusWith(narrowed.body.api_key), 403);
  const unknown = await createKey({ email: "nobody@example.com" });
  assert.deepEqual([unknown.status, unknown.body.error], [404, "no_such_user"]);
});

test("an administrator's request is checked", async () => {
  const user = await aCaller(database);
  for (const [answer, code] of [
    [await createUser({}), "invalid_args"],
    [await createUser({ email: "nobody" }), "invalid_email"],
    [await createUser({ email: "a1@example.com", credit: -1 }), "invalid_args"],
    [await createUser({ email: "a1@example.com", credit: 1e10 }), "invalid_args"],
    [await createUser({ email: "a1@example.com", username: "" }), "invalid_args"],
    [await createKey({}), "invalid_args"],
    [await createKey({ email: user.email, permissions: { api: 5 } }), "invalid_permissions"],
  ] as const) {
    assert.deepEqual([answer.status, answer.body.error], [400, code]);
  }
});

test("only an administrator's unnarrowed key may administer", async () => {
  const user = await aCaller(database);
  const permissions = { api: { user_write: {}, misc: {} } };
  const narrowed = await inTransaction(database, (tx) => aKey(tx, { id: admin.id, isAdmin: true }, { permissions }));
  for (const call of [createUser, createKey]) {
    const body = { email: "x@example.com" };
    assert.equal((await call(body, "berth_wrong")).status, 401);
    assert.equal((await call(body, user.secret)).status, 403);
    assert.equal((await call(body, narrowed.secret)).status, 403);
  }
  for (const url of ["/api/v0/admin/users/", "/api/v0/admin/keys/"]) {
    assert.equal((await http.call({ method: "POST", url, body: { email: "x@example.com" } })).status, 401);
  }
  assert.equal(await findUserByEmailOrId(database.kysely, "x@example.com"), undefined);
});

test("the first start makes the administrator, later ones nothing, and a lost key file a new key", async (context) => {
  const { database: fresh } = await testDatabase(context);
  const server = await accountsHttp(fresh);
  const start = (hasKey: boolean) =>
    inTransaction(fresh, (tx) => bootstrapAdmin(tx, { email: "admin@berth.local", hasKey, random: randomBytes }));
  const first = await start(false);
  const made = await server.call({
    method: "POST",
    url: "/api/v0/admin/users/",
    secret: first.secret,
    body: { email: "a@example.com" },
  });
  assert.equal(made.status, 200);
  assert.deepEqual(await start(true), { userId: first.userId, secret: undefined });
  const second = await start(false);
  assert.equal(second.userId, first.userId);
  server.identities.channelHandler.onGap();
  const status = async (secret: string | undefined) => (await server.call({ url: "/api/v0/users/me/", secret })).status;
  assert.deepEqual([await status(first.secret), await status(second.secret)], [401, 200]);
});
