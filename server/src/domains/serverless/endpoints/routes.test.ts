import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { aCaller, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { testDatabase, type TestDatabase } from "../../../../../test/support/database/postgres.ts";
import { stubbornInstances } from "../../../../../test/support/database/stubborn-instances.ts";
import { aRequestKey, serveRoutes, type Served } from "../../../../../test/support/network/serve.ts";
import { asId, type EndpointGroupId, type InstanceId } from "../../../base/ids.ts";
import { systemClock } from "../../../base/clock.ts";
import { addWorker, endpointRoutes, retryWorkerRemoval } from "../index.ts";

let env: TestDatabase;
let served: Served;
let alice: TestCaller;
let bob: TestCaller;
let stubborn: Awaited<ReturnType<typeof stubbornInstances>>;

before(async () => {
  env = await testDatabase();
  const { database } = env;
  stubborn = await stubbornInstances(env);
  alice = await aCaller(database);
  bob = await aCaller(database);
  served = await serveRoutes(database, (scope) =>
    endpointRoutes(scope, { random: randomBytes, agreeOn: async () => {} }),
  );
});
after(() => served.close());

const create = async (body: object = {}, as: TestCaller = alice) => {
  const { status, body: answer } = await served.call("POST", "/api/v0/endptjobs/", { as, body });
  assert.equal(status, 200, JSON.stringify(answer));
  return Number(answer["result"]);
};
const show = async (id: number, as: TestCaller = alice) =>
  (await served.call("GET", `/api/v0/endptjobs/${id}/`, { as })).body["result"] as Record<string, unknown>;

async function workersOf(groupId: number, count: number): Promise<readonly InstanceId[]> {
  return inTransaction(env.database, async (tx) => {
    const machineId = await aMachine(tx, bob.id);
    const ids: InstanceId[] = [];
    for (let index = 0; index < count; index += 1) {
      const id = await anInstanceRow(tx, alice.id, machineId);
      assert.equal(await addWorker(tx, asId<EndpointGroupId>(groupId), id), "added");
      ids.push(id);
    }
    return ids;
  });
}

test("an account has at most 500 endpoints, even under concurrent creation, and a deletion makes room for another", async () => {
  const carol = await aCaller(env.database);
  const id = await create({}, carol);
  await env.pool.query(
    `insert into endpoint_groups overriding system value
     select (jsonb_populate_record(g, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('endpoint_groups', 'id')), 'api_key', g.api_key || n
     ))).* from endpoint_groups g, generate_series(1, 498) as n where g.id = $1`,
    [id],
  );
  const ask = () => served.call("POST", "/api/v0/endptjobs/", { as: carol, body: {} });
  const answers = await Promise.all([ask(), ask(), ask()]);
  const [refused, ...others] = answers.filter(({ status }) => status === 400).map(({ body }) => body);
  assert.equal(others.length, 1, "one of three was the last");
  assert.deepEqual(
    [refused?.["error"], refused?.["msg"]],
    ["too_many_endpoints", "An account has at most 500 endpoints."],
  );
  assert.equal((await served.call("DELETE", `/api/v0/endptjobs/${id}/`, { as: carol, body: {} })).status, 200);
  assert.equal((await ask()).status, 200);
});

test("a group made without any field has the defaults and a key of its own", async () => {
  const answer = await served.call("POST", "/api/v0/endptjobs", { as: alice });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ["success", "result"]);
  const { created_at: createdAt, api_key: apiKey, ...record } = await show(Number(answer.body["result"]));
  assert.equal(typeof createdAt, "number");
  assert.match(String(apiKey), /^berth_endpoint_[\w-]{43}$/);
  assert.deepEqual(record, {
    id: answer.body["result"],
    user_id: alice.id,
    endpoint_name: "default-endpoint",
    endpoint_state: "active",
    min_load: 10,
    min_cold_load: 0,
    target_util: 0.9,
    cold_mult: 2.5,
    cold_workers: 5,
    max_workers: 20,
    max_queue_time: null,
    target_queue_time: null,
    inactivity_timeout: null,
    auto_delete_in_seconds: null,
    auto_delete_due_24h: false,
  });
});

test("sent fields are stored; nulls and foreign keys are ignored", async () => {
  const id = await create({
    endpoint_name: "bench run 1",
    min_load: 0.0,
    min_cold_load: 3.5,
    target_util: 1,
    cold_mult: null,
    min_workers: 0,
    max_workers: 1,
    max_queue_time: 30,
    target_queue_time: 10,
    inactivity_timeout: -1,
    endpoint_state: "suspended",
    client_id: "me",
    autoscaler_instance: "prod",
    overrecruit_ratio: 1.5,
  });
  const record = await show(id);
  assert.deepEqual(
    [record["endpoint_name"], record["min_load"], record["min_cold_load"], record["cold_mult"]],
    ["bench run 1", 0, 3.5, 2.5],
  );
  assert.deepEqual([record["cold_workers"], record["max_workers"], record["endpoint_state"]], [0, 1, "suspended"]);
  assert.deepEqual([record["max_queue_time"], record["target_queue_time"], record["inactivity_timeout"]], [30, 10, -1]);
});

test("cold workers above max_workers are taken, in creations and in changes, and come into effect with a higher cap", async () => {
  const id = await create({ cold_workers: 5, max_workers: 2 });
  const sizes = async () => {
    const { cold_workers: cold, max_workers: max } = await show(id);
    return [cold, max];
  };
  assert.deepEqual(await sizes(), [5, 2]);
  const change = (body: object) => served.call("PUT", `/api/v0/endptjobs/${id}/`, { as: alice, body });
  assert.equal((await change({ max_workers: 1 })).status, 200);
  assert.deepEqual(await sizes(), [5, 1]);
  assert.equal((await change({ min_workers: 30 })).status, 200);
  assert.deepEqual(await sizes(), [30, 1]);
  assert.equal((await change({ max_workers: 40 })).status, 200);
  assert.deepEqual(await sizes(), [30, 40]);
});

test("two groups may have one name, each with a key of its own", async () => {
  const [first, second] = [await show(await create()), await show(await create())];
  assert.equal(first["endpoint_name"], second["endpoint_name"]);
  assert.notEqual(first["api_key"], second["api_key"]);
});

const refused = [
  ["min_load", "10"],
  ["min_load", -1],
  ["target_util", 2],
  ["cold_mult", 0],
  ["cold_workers", 2.5],
  ["max_workers", 0],
  ["max_workers", true],
  ["endpoint_name", ""],
  ["endpoint_name", 5],
  ["endpoint_state", "gone"],
  ["inactivity_timeout", "never"],
] as const;
for (const [field, value] of refused) {
  test(`creating and changing with ${field} ${JSON.stringify(value)} is a 400 that names it`, async () => {
    const id = await create();
    const body = { [field]: value };
    for (const [method, path] of [
      ["POST", "/api/v0/endptjobs/"],
      ["PUT", `/api/v0/endptjobs/${id}/`],
    ] as const) {
      const answer = await served.call(method, path, { as: alice, body });
      assert.equal(answer.status, 400);
      assert.deepEqual([answer.body["error"], answer.body["field"]], ["invalid_args", field]);
      assert.match(String(answer.body["msg"]), new RegExp(field));
    }
  });
}

test("a repeated creation with one idempotency key makes one group", async () => {
  const options = { as: alice, body: { endpoint_name: "once" }, key: aRequestKey() };
  const first = await served.call("POST", "/api/v0/endptjobs/", options);
  const second = await served.call("POST", "/api/v0/endptjobs/", options);
  assert.deepEqual(second.body, first.body);
  const { body } = await served.call("GET", "/api/v0/endptjobs/", { as: alice });
  const named = (body["results"] as { endpoint_name: string }[]).filter((row) => row.endpoint_name === "once");
  assert.equal(named.length, 1);
});

test("a list holds the caller's own groups only, and is empty for a user without groups", async () => {
  const [own, other] = [await create({}, bob), await create()];
  const { body } = await served.call("GET", "/api/v0/endptjobs/", { as: bob });
  const ids = (body["results"] as { id: number }[]).map((row) => row.id);
  assert.ok(ids.includes(own) && !ids.includes(other));
  const carol = await aCaller(env.database);
  const empty = await served.call("GET", "/api/v0/endptjobs/", { as: carol });
  assert.deepEqual(empty.body, { success: true, results: [] });
});

test("a change keeps the fields that it does not name", async () => {
  const id = await create({ endpoint_name: "kept", min_load: 7 });
  const body = { max_workers: 9, min_load: null, endptjob_id: id };
  const answer = await served.call("PUT", `/api/v0/endptjobs/${id}/`, { as: alice, body });
  assert.deepEqual([answer.status, answer.body], [200, { success: true }]);
  const record = await show(id);
  assert.deepEqual([record["endpoint_name"], record["min_load"], record["max_workers"]], ["kept", 7, 9]);
});

test("another user's group looks exactly like one that does not exist", async () => {
  const foreign = await create({}, bob);
  for (const [method, status, message] of [
    ["GET", 404, "Endpointgroup not found for user"],
    ["PUT", 400, "Endpointgroup not found for user"],
    ["DELETE", 400, "Routegroup not found for user"],
  ] as const) {
    for (const id of [foreign, 2_000_000_000, 0, -1, 1e15]) {
      const { body, status: found } = await served.call(method, `/api/v0/endptjobs/${id}/`, { as: alice });
      const { request_id: _, ...stable } = body;
      const [error, field] = method === "GET" ? ["no_such_endpoint", {}] : ["invalid_args", { field: "id" }];
      assert.equal(found, status);
      assert.deepEqual(stable, { success: false, error, msg: message, ...field });
    }
  }
  assert.equal((await show(foreign, bob))["id"], foreign);
});

test("an id that is no number is a 400 that names it", async () => {
  for (const method of ["GET", "PUT", "DELETE"] as const) {
    const answer = await served.call(method, "/api/v0/endptjobs/abc/", { as: alice });
    assert.deepEqual([answer.status, answer.body["field"]], [400, "id"]);
  }
});

test("every operation refuses a request without a key and a key without the permission", async () => {
  const reader = await aCaller(env.database, { permissions: { api: { instance_read: {} } } });
  const id = await create();
  for (const [method, path] of [
    ["POST", "/api/v0/endptjobs/"],
    ["GET", "/api/v0/endptjobs/"],
    ["GET", `/api/v0/endptjobs/${id}/`],
    ["PUT", `/api/v0/endptjobs/${id}/`],
    ["DELETE", `/api/v0/endptjobs/${id}/`],
  ] as const) {
    assert.equal((await served.call(method, path)).status, 401);
    assert.equal((await served.call(method, path, { as: { secret: "wrong" } })).status, 401);
    assert.equal((await served.call(method, path, { as: reader })).status, 403);
  }
});

test("deleting a group destroys its workers and forgets it", async () => {
  const id = await create();
  const workers = await workersOf(id, 2);
  const options = { as: alice, body: { client_id: "me", endptjob_id: id } };
  const answer = await served.call("DELETE", `/api/v0/endptjobs/${id}/`, options);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, {
    success: true,
    deleted_workers: workers,
    failed_workers: [],
    msg: "Deleted endpoint job and 2 workers",
  });
  const actor = `user:${alice.id}`;
  assert.deepEqual(
    await destructionsOf(workers),
    workers.map((id) => ({ instance_id: id, actor, cause: "endpoint_deleted" })),
  );
  assert.equal((await served.call("GET", `/api/v0/endptjobs/${id}/`, { as: alice })).status, 404);
  assert.equal((await served.call("DELETE", `/api/v0/endptjobs/${id}/`, { as: alice })).status, 400);
  assert.equal(await countRows(id), 0);
});

test("a group takes workers up to its cap, and none once it is deleted", async () => {
  const id = await create({ max_workers: 1 });
  await workersOf(id, 1);
  const another = await create();
  const [spare = asId<InstanceId>(0)] = await workersOf(another, 1);
  const groupId = asId<EndpointGroupId>(id);
  assert.equal(await inTransaction(env.database, (tx) => addWorker(tx, groupId, spare)), "full");
  await served.call("DELETE", `/api/v0/endptjobs/${id}/`, { as: alice });
  assert.equal(await inTransaction(env.database, (tx) => addWorker(tx, groupId, spare)), "gone");
});

test("a worker that could not be removed stays tracked and is tried again until it is gone", async () => {
  const id = await create();
  const [good, refusing, breaking] = (await workersOf(id, 3)) as [InstanceId, InstanceId, InstanceId];
  await stubborn.refuse(refusing, breaking);
  const answer = await served.call("DELETE", `/api/v0/endptjobs/${id}/`, { as: alice });
  assert.deepEqual(
    [answer.status, answer.body["deleted_workers"], answer.body["failed_workers"]],
    [200, [good], [refusing, breaking]],
  );
  assert.doesNotMatch(answer.text, /division/, "reasons are for operators only");
  assert.equal((await served.call("GET", `/api/v0/endptjobs/${id}/`, { as: alice })).status, 404);
  assert.equal(await countRows(id), 1, "the row stays while a worker is left");

  const run = (afterMs: number) => {
    const clock = { ...systemClock, now: () => new Date(Date.parse(String(startedAt)) + afterMs) };
    const dependencies = { database: env.database, clock, maxPerRun: 10 };
    return retryWorkerRemoval(dependencies, clock.now());
  };
  const { rows } = await env.pool.query<{ at: Date }>(
    "select next_removal_at as at from endpoint_workers where instance_id = $1",
    [refusing],
  );
  const startedAt = rows[0]?.at.toISOString();
  const idle = { examined: 0, removed: 0, failed: 0, skipped: 0, groupsDeleted: 0 };
  assert.deepEqual(await run(-1), idle, "not before it is due");
  await stubborn.allow(refusing);
  assert.deepEqual(await run(0), { ...idle, examined: 2, removed: 1, failed: 1 });
  assert.deepEqual(await run(0), idle, "the one that failed again waits");
  assert.equal(await countRows(id), 1);
  await stubborn.allow(breaking);
  assert.deepEqual(await run(10_000), { ...idle, examined: 1, removed: 1, groupsDeleted: 1 });
  assert.equal(await countRows(id), 0);
  assert.deepEqual(await run(20_000), idle, "once gone, nothing is left to do");
});

test("two concurrent loops ask once for each worker", async () => {
  const id = await create();
  const workers = await workersOf(id, 4);
  await stubborn.refuse(...workers);
  await served.call("DELETE", `/api/v0/endptjobs/${id}/`, { as: alice });
  await stubborn.allow(...workers);
  const clock = { ...systemClock, now: () => new Date("2100-01-01T00:00:00Z") };
  const dependencies = { database: env.database, clock, maxPerRun: 10 };
  const runs = await Promise.all([1, 2].map(() => retryWorkerRemoval(dependencies, clock.now())));
  const destroyed = await destructionsOf(workers);
  assert.deepEqual(
    destroyed.map(({ instance_id }) => instance_id),
    workers,
  );
  const sumOf = (outcome: "removed" | "failed") => runs.reduce((sum, status) => sum + status[outcome], 0);
  assert.deepEqual([sumOf("removed"), sumOf("failed")], [4, 0], "each worker is asked once");
  assert.equal(await countRows(id), 0);
});

async function countRows(groupId: number): Promise<number> {
  const { rowCount } = await env.pool.query("select 1 from endpoint_groups where id = $1", [groupId]);
  return rowCount ?? 0;
}

/** Events by which these instances were ordered to be destroyed, by instance. */
async function destructionsOf(ids: readonly InstanceId[]) {
  const { rows } = await env.pool.query<{ instance_id: number; actor: string; cause: string }>(
    "select instance_id, actor, cause from instance_events where instance_id = any($1) and cause = 'endpoint_deleted' order by 1",
    [ids],
  );
  return rows;
}
