import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";

const read = (world: TestApp, by: Pick<TestCaller, "secret">, query: Readonly<Record<string, unknown>> = {}) => {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return world.call({ url: `/api/v1/audit_logs/?${new URLSearchParams(texts).toString()}`, secret: by.secret });
};
const filtersOf = (world: TestApp, by: TestCaller) =>
  world.call({ url: "/api/v0/audit_log_filters/", secret: by.secret });

/** Creates keys, one after the other and at different times, and deletes the first of them. */
async function aPast(world: TestApp) {
  const caller = await world.caller();
  const ids: number[] = [];
  for (const name of ["one", "two", "three"]) {
    world.clock.jump(1000);
    const body = { name };
    const created = await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: caller.secret, body });
    assert.equal(created.status, 200, created.text);
    ids.push(created.body.id);
  }
  world.clock.jump(1000);
  const url = `/api/v0/auth/apikeys/${ids[0]}/`;
  assert.equal((await world.call({ method: "DELETE", url, secret: caller.secret })).status, 200);
  return { caller, ids };
}

type Row = { readonly id: number; readonly created_at: number; readonly api_route: string } & Record<string, unknown>;

test("the audit log comes page by page in both directions, each entry once, with the person and the key", async (t) => {
  const world = await testApp(t);
  const { caller } = await aPast(world);
  await aPast(world);
  const whole = await read(world, caller);
  assert.equal(whole.status, 200, whole.text);
  assert.deepEqual([whole.body.total_logs, whole.body.logs_found, whole.body.next_token], [4, 4, null]);
  const { body: legacy } = await world.call({ url: "/api/v0/audit_logs/", secret: caller.secret });
  const rows: readonly Row[] = whole.body.audit_logs;
  assert.deepEqual(
    rows.map(({ ip_address, api_key_id, created_at, api_route, args }) => ({
      ip_address,
      api_key_id,
      created_at,
      api_route,
      args,
    })),
    legacy,
  );
  for (const row of rows) {
    const { key, key_type: type, key_status: status, email, user_id: userId } = row;
    assert.deepEqual([type, status, email, userId], ["api", "active", caller.email, caller.id]);
    assert.ok(caller.secret.includes(String(key)) && String(key).length === 6);
  }
  for (const dir of ["asc", "desc"]) {
    const seen: number[] = [];
    let token: string | null = "";
    while (token !== null) {
      const { body } = await read(world, caller, {
        limit: 3,
        order_by: [{ col: "created_at", dir }],
        after_token: token,
      });
      assert.equal(body.total_logs, 4);
      seen.push(...body.audit_logs.map((row: Row) => row.id));
      token = body.next_token;
    }
    const ids = rows.map(({ id }) => id);
    assert.deepEqual(seen, dir === "desc" ? ids : ids.toReversed());
  }
  const columns = await read(world, caller, { select_cols: ["api_route", "email"], limit: 1 });
  assert.deepEqual(columns.body.audit_logs, [{ api_route: "api.apikey.delete", email: caller.email }]);
});

test("filters narrow the audit log and its count, by the values that the list of filters names", async (t) => {
  const world = await testApp(t);
  const { caller } = await aPast(world);
  const { body } = await filtersOf(world, caller);
  const newestIp = (await read(world, caller)).body.audit_logs[0].ip_address;
  assert.deepEqual(body, {
    success: true,
    users: { [caller.id]: { email: caller.email, name: caller.username, apikey_ids: [caller.key.id] } },
    keys: { [caller.key.id]: { key: body.keys[caller.key.id].key, key_type: "api" } },
    api_routes: ["api.apikey.create", "api.apikey.delete"],
    ip_addresses: [newestIp],
  });
  const { body: whole } = await read(world, caller);
  const [newest] = whole.audit_logs;
  for (const [count, filters] of [
    [3, { api_route: { eq: "api.apikey.create" } }],
    [1, { api_route: { notin: ["api.apikey.create"] } }],
    [4, { ip_address: { in: body.ip_addresses } }],
    [0, { ip_address: { eq: "203.0.113.9" } }],
    [4, { api_key_id: { eq: caller.key.id }, user_id: { eq: caller.id } }],
    [0, { api_key_id: { eq: null } }],
    [1, { created_at: { gte: newest.created_at } }],
    [3, { created_at: { lt: newest.created_at } }],
    [1, { id: { eq: newest.id } }],
  ] as const) {
    const { body: found } = await read(world, caller, { select_filters: filters, limit: 2 });
    assert.deepEqual([found.total_logs, found.logs_found], [count, Math.min(2, count)], JSON.stringify(filters));
  }
  const silent = await world.caller();
  assert.deepEqual((await filtersOf(world, silent)).body, {
    success: false,
    msg: "Nothing was logged for this account yet.",
    users: {},
    keys: {},
    api_routes: [],
    ip_addresses: [],
  });
  assert.deepEqual((await read(world, silent)).body.audit_logs, []);
});

test("a key that is gone is shown as deleted", async (t) => {
  const world = await testApp(t);
  const caller = await world.caller();
  const created = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret: caller.secret,
    body: { name: "short" },
  });
  const url = `/api/v0/auth/apikeys/${created.body.id}/`;
  assert.equal((await world.call({ method: "DELETE", url, secret: created.body.key })).status, 200);
  const { body } = await read(world, caller, { limit: 1 });
  assert.deepEqual([body.audit_logs[0].api_key_id, body.audit_logs[0].key_status], [created.body.id, "deleted"]);
});

test("a page of the audit log that cannot be read is refused by its parameter", async (t) => {
  const world = await testApp(t);
  const caller = await world.caller();
  for (const [field, query] of [
    ["limit", { limit: 0 }],
    ["limit", { limit: 501 }],
    ["after_token", { after_token: "x" }],
    ["after_token", { after_token: Buffer.from('["audit_log","-1"]').toString("base64url") }],
    ["order_by[0]", { order_by: ["email"] }],
    ["select_cols", { select_cols: ["magic"] }],
    ["select_filters.magic", { select_filters: { magic: { eq: 1 } } }],
    ["select_filters.created_at.gte", { select_filters: { created_at: { gte: "soon" } } }],
  ] as const) {
    const answer = await read(world, caller, query);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  const scoped = await world.caller({ permissions: { api: { user_read: {} } } });
  assert.equal((await read(world, scoped)).status, 403);
});
