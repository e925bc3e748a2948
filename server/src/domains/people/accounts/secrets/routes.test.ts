import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { accountsHttp } from "../../../../../../test/support/accounts.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { createEncryption } from "../../../../base/encryption.ts";
import { listSecrets } from "./store.ts";

const { database, pool } = await testDatabase();
const encryption = createEncryption(randomBytes(32), randomBytes);
const http = await accountsHttp(database, { encryption });
const SECRETS = "/api/v0/secrets/";

const send = (method: "POST" | "PUT" | "DELETE", secret: string | undefined, body: unknown, headers = {}) =>
  http.call({ method, url: SECRETS, secret, body, headers });
const list = async (secret: string) => (await http.call({ url: SECRETS, secret })).body;
const valuesOf = async (caller: Awaited<ReturnType<typeof aCaller>>) =>
  (await listSecrets(database.kysely, [caller.id], encryption)).get(caller.id);

test("a secret is set, listed masked under its name in upper case, changed and deleted", async () => {
  const caller = await aCaller(database);
  assert.deepEqual(await list(caller.secret), { success: true, secrets: {} });
  const made = await send("POST", caller.secret, { key: "hf_Token", value: "hf_canary-1.x" });
  assert.deepEqual([made.status, made.body], [200, { success: true, msg: made.body.msg }]);
  assert.match(made.body.msg, /HF_TOKEN/);
  await send("POST", caller.secret, { key: "_A1", value: "0" });
  assert.deepEqual(await list(caller.secret), { success: true, secrets: { HF_TOKEN: "*****", _A1: "*****" } });
  assert.deepEqual(await valuesOf(caller), [
    { name: "HF_TOKEN", value: "hf_canary-1.x" },
    { name: "_A1", value: "0" },
  ]);
  assert.equal((await send("PUT", caller.secret, { key: "HF_token", value: "hf_canary-2" })).status, 200);
  assert.deepEqual((await valuesOf(caller))?.[0], { name: "HF_TOKEN", value: "hf_canary-2" });
  assert.equal((await send("DELETE", caller.secret, { key: "hf_token" })).status, 200);
  assert.deepEqual((await list(caller.secret)).secrets, { _A1: "*****" });
});

test("a value is encrypted in the database, bound to its user and name, and is in no answer, audit log event or log line", async () => {
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  const value = "canaryvalue0123456789";
  const headers = { "idempotency-key": "secret" };
  const answers = [
    await send("POST", caller.secret, { key: "TOKEN", value }, headers),
    await send("PUT", caller.secret, { key: "TOKEN", value }, headers),
    await send("POST", caller.secret, { key: "TOKEN", value }),
    await send("PUT", caller.secret, { key: "OTHER", value }),
    await send("POST", caller.secret, { key: "TOKEN", value: `${value} !` }),
    await send("POST", caller.secret, { key: "CONTAINER_ID", value }),
    await http.call({ url: SECRETS, secret: caller.secret }),
  ];
  for (const answer of answers) assert.ok(!answer.text.includes(value), answer.text);
  assert.ok(!http.logged.join("").includes(value));
  const { rows: tables } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of tables) {
    const { rows } = await pool.query(`select 1 from ${name} as t where position($1 in t::text) > 0`, [value]);
    assert.equal(rows.length, 0, `${name} holds the value in clear`);
  }
  // Moved to another name or another user, the encrypted value cannot be decrypted.
  await pool.query(
    `insert into account_secrets (user_id, name, sealed_value, created_at, updated_at)
     select user_id, 'MOVED', sealed_value, created_at, updated_at from account_secrets where user_id = $1
     union all select $2, name, sealed_value, created_at, updated_at from account_secrets where user_id = $1`,
    [caller.id, other.id],
  );
  assert.deepEqual(await valuesOf(caller), [{ name: "TOKEN", value }]);
  assert.equal(await valuesOf(other), undefined);
});

test("a secret is checked, each mistake with its code", async () => {
  const { secret } = await aCaller(database);
  await send("POST", secret, { key: "THERE", value: "v" });
  const ofBoth: readonly [object, string, string?][] = [
    [{ value: "v" }, "missing_input"],
    [{ key: "K" }, "missing_input", "value"],
    [{ key: "", value: "v" }, "empty_input", "key"],
    [{ key: "THERE", value: "" }, "empty_input", "value"],
    [{ key: "1K", value: "v" }, "invalid_characters", "key"],
    [{ key: "A-B", value: "v" }, "invalid_characters", "key"],
    [{ key: "Ä", value: "v" }, "invalid_characters", "key"],
    [{ key: "K=V", value: "v" }, "invalid_characters", "key"],
    [{ key: "THERE", value: "a b" }, "invalid_characters", "value"],
    [{ key: "THERE", value: "a/b+c=" }, "invalid_characters", "value"],
    [{ key: "THERE", value: "a\nb" }, "invalid_characters", "value"],
    [{ key: "K".repeat(256), value: "v" }, "input_too_long", "key"],
    [{ key: "THERE", value: "v".repeat(4097) }, "input_too_long", "value"],
    [{ key: "container_id", value: "v" }, "reserved_key", "key"],
    [{ key: "VAST_TCP_PORT_22", value: "v" }, "reserved_key", "key"],
    [{ key: "NVIDIA_VISIBLE_DEVICES", value: "all" }, "reserved_key", "key"],
    [{ key: 5, value: "v" }, "invalid_args", "key"],
    [{ key: "K", value: 5 }, "invalid_args", "value"],
  ];
  for (const [body, code, field] of ofBoth) {
    for (const method of ["POST", "PUT"] as const) {
      const answer = await send(method, secret, body);
      assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, code, field], answer.text);
    }
  }
  for (const [method, body, code] of [
    ["POST", { key: "there", value: "v" }, "existing_key"],
    ["PUT", { key: "ABSENT", value: "v" }, "nonexistent_key"],
    ["DELETE", { key: "ABSENT" }, "nonexistent_key"],
    ["DELETE", {}, "missing_input"],
    ["DELETE", { key: "no name" }, "invalid_characters"],
  ] as const) {
    const answer = await send(method, secret, body);
    assert.deepEqual([answer.status, answer.body.error], [400, code], answer.text);
  }
  assert.deepEqual((await list(secret)).secrets, { THERE: "*****" });
  for (const body of [
    { key: "NVIDIA_API_KEY", value: "nvapi-1" },
    { key: "K".repeat(255), value: "v".repeat(4096) },
  ]) {
    assert.equal((await send("POST", secret, body)).status, 200);
  }
});

test("an account has at most 64 secrets, also with concurrent requests", async () => {
  const { secret } = await aCaller(database);
  const answers = await Promise.all(
    Array.from({ length: 70 }, (_, index) => send("POST", secret, { key: `K${index}`, value: "v" })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 6);
  for (const answer of refused) assert.deepEqual([answer.status, answer.body.error], [400, "max_secrets"]);
  assert.equal(Object.keys((await list(secret)).secrets).length, 64);
});

test("one of two concurrent creations of a name is told that it exists", async () => {
  const { secret } = await aCaller(database);
  const answers = await Promise.all(["a", "b"].map((value) => send("POST", secret, { key: "ONE", value })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.find(({ status }) => status === 400)?.body.error, "existing_key");
});

test("a stranger sees, changes and deletes nothing", async () => {
  const [caller, stranger] = [await aCaller(database), await aCaller(database)];
  await send("POST", caller.secret, { key: "MINE", value: "v" });
  assert.deepEqual((await list(stranger.secret)).secrets, {});
  for (const method of ["PUT", "DELETE"] as const) {
    const [foreign, absent] = [
      await send(method, stranger.secret, { key: "MINE", value: "w" }),
      await send(method, stranger.secret, { key: "NOBODYS", value: "w" }),
    ];
    assert.deepEqual([foreign.status, foreign.body.msg], [400, absent.body.msg]);
  }
  assert.deepEqual(await valuesOf(caller), [{ name: "MINE", value: "v" }]);
});

test("secrets need the permission: 401 without a key, 403 without the category", async () => {
  const reader = await aCaller(database, { permissions: { api: { user_read: {} } } });
  const writer = await aCaller(database, { permissions: { api: { user_write: {} } } });
  for (const method of ["GET", "POST", "PUT", "DELETE"] as const) {
    const secret = method === "GET" ? writer.secret : reader.secret;
    const route = { method, url: SECRETS };
    assert.equal((await http.call(route)).status, 401);
    assert.equal((await http.call({ ...route, secret: "berth_wrong" })).status, 401);
    assert.equal((await http.call({ ...route, secret })).status, 403, method);
  }
});
