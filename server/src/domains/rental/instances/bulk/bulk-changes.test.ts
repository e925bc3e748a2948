import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rent, rentAndRun, show, stored } from "../../../../../../test/support/rentals.ts";

const PATH = "/api/v0/instances/";

type Method = "GET" | "PUT" | "POST" | "DELETE";

function call(world: TestApp, { secret }: TestCaller, method: Method, body: unknown, path = PATH) {
  return world.call({ method, url: path, secret, body });
}

const NOBODY = 2_000_000_000;

test("many instances of several machines are stopped, started and destroyed at once", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const hosts = [await world.host({ gpus: 2 }), await world.host({ gpus: 2 })];
  const ids: number[] = [];
  for (const host of [...hosts, ...hosts]) ids.push(await rentAndRun(world, user, host));
  const obey = async () => {
    for (const host of hosts) await host.obey();
  };
  const statuses = async () => {
    const seen = [];
    for (const id of ids) seen.push((await show(world, user, id)).actual_status);
    return new Set(seen);
  };

  const stop = await call(world, user, "PUT", { state: "stopped", ids: ids.toReversed() });
  assert.deepEqual([stop.status, stop.body.msg], [200, "4 of 4 instances are stopping."], stop.text);
  assert.deepEqual(
    stop.body.results,
    ids.toReversed().map((id) => ({ id, success: true })),
  );
  await obey();
  assert.deepEqual(await statuses(), new Set(["stopped"]));

  assert.equal((await call(world, user, "PUT", { state: "running", ids: ids.slice(0, 2) })).body.success, true);
  const rest = await call(world, user, "POST", { IDs: ids.slice(2) }, "/api/v0/instances/start");
  assert.deepEqual([rest.status, rest.body.success], [200, true]);
  await obey();
  assert.deepEqual(await statuses(), new Set(["running"]));

  const end = await call(world, user, "DELETE", { instance_ids: ids });
  assert.deepEqual([end.status, end.body.success], [200, true]);
  await obey();
  assert.deepEqual(await statuses(), new Set(["destroyed"]));
  await world.assertBooks();
});

test("one refusal leaves the others alone, and another user's instance is answered as an absent one", async (t) => {
  const world = await testApp(t);
  const [user, stranger, host] = [await world.caller(), await world.caller(), await world.host({ gpus: 4 })];
  const [mine, foreign] = [await rentAndRun(world, user, host), await rentAndRun(world, stranger, host)];
  const answer = await call(world, user, "DELETE", { instance_ids: [NOBODY, foreign, mine, mine] });
  assert.equal(answer.status, 200, answer.text);
  const refused = (id: number) => ({
    id,
    success: false,
    error: "no_such_instance",
    msg: `There is no instance ${id}.`,
  });
  assert.deepEqual(answer.body.results, [refused(NOBODY), refused(foreign), { id: mine, success: true }]);
  assert.equal(answer.body.msg, "1 of 3 instances are being destroyed.");
  await host.obey();
  assert.equal((await show(world, user, mine)).actual_status, "destroyed");
  assert.equal((await show(world, stranger, foreign)).actual_status, "running");

  for (const [method, body] of [
    ["PUT", { state: "stopped", ids: [foreign] }],
    ["DELETE", { instance_ids: [foreign, NOBODY] }],
  ] as const) {
    const none = await call(world, user, method, body);
    assert.deepEqual([none.status, none.body.error, none.body.msg], [404, "no_such_instance", refused(foreign).msg]);
  }
  assert.equal((await show(world, stranger, foreign)).intended_status, "running");
});

test("an instance that cannot start keeps no hold, and the others start", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const [user, host] = [await world.caller(), await world.host({ gpus: 4, owner })];
  await call(world, owner, "POST", { machine: host.machineId, size: 100 }, "/api/v0/volumes/");
  await world.settled();
  const offers = await call(world, user, "POST", { machine_id: { eq: host.machineId } }, "/api/v0/volumes/search/");
  const order = { id: offers.body.offers[0].id, size: 10 };
  const { id: volume } = (await call(world, user, "PUT", order, "/api/v0/volumes/")).body;
  await world.settled();
  const link = { volume_info: { create_new: false, volume_id: volume, mount_path: "/data" }, target_state: "stopped" };
  const [first, second] = [await rent(world, user, host, link), await rent(world, user, host, link)];
  await host.obey();

  const answer = await call(world, user, "PUT", { state: "running", ids: [first, second] });
  assert.equal(answer.status, 200, answer.text);
  const [started, refused] = answer.body.results;
  assert.deepEqual([started.success, refused.success, refused.error], [true, false, "volume_in_use"]);
  const [one, other] = [await stored(world, first), await stored(world, second)];
  assert.deepEqual([one.desired, other.desired, other.hold], ["running", "stopped", null]);
  await world.assertBooks();
});

test("a bulk change without ids is refused by the missing field", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const start = "/api/v0/instances/start/";
  const tooMany = Array.from({ length: 101 }, (_, index) => index + 1);
  for (const [method, path, body, error, field] of [
    ["PUT", PATH, { ids: [1] }, "invalid_args", "state"],
    ["PUT", PATH, { state: "paused", ids: [1] }, "invalid_args", "state"],
    ["PUT", PATH, { state: "stopped" }, "invalid_args", "ids"],
    ["PUT", PATH, { state: "stopped", ids: [] }, "invalid_args", "ids"],
    ["PUT", PATH, { state: "stopped", ids: tooMany }, "invalid_args", "ids"],
    ["DELETE", PATH, { instance_ids: ["x"] }, "invalid_args", "instance_ids.0"],
    ["DELETE", PATH, {}, "invalid_args", "instance_ids"],
    ["POST", start, {}, "missing_input", "IDs"],
    ["POST", start, { IDs: [] }, "empty_input", "IDs"],
    ["POST", start, { IDs: ["x"] }, "invalid_instance_id", "IDs"],
    ["POST", start, { IDs: 7 }, "invalid_args", "IDs"],
    ["POST", start, { IDs: tooMany }, "invalid_args", "IDs"],
  ] as const) {
    const answer = await call(world, user, method, body, path);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, error, field], answer.text);
  }
});

test("the values to filter by are those of the caller's instances, each combination once", async (t) => {
  const world = await testApp(t);
  const [user, host] = [await world.caller(), await world.host({ gpus: 4 })];
  const filters = async (who: TestCaller) =>
    (await call(world, who, "GET", undefined, "/api/v0/instances/filters/")).body.filters;
  assert.deepEqual(await filters(user), []);
  await rentAndRun(world, user, host);
  await rentAndRun(world, user, host);
  const stopped = await rent(world, user, host, { target_state: "stopped" });
  await host.obey();
  const { actual_status: status, gpu_name: gpu, verification } = await show(world, user, stopped);
  assert.deepEqual(await filters(user), [
    { actual_status: "running", verification, gpu_name: gpu },
    { actual_status: status, verification, gpu_name: gpu },
  ]);
  assert.deepEqual(await filters(await world.caller()), []);
});
