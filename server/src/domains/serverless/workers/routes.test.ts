import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  rentUpTo,
  sayStatus,
  workersOf,
  type Fleet,
} from "../../../../../test/support/serverless/workers.ts";

const secret = randomBytes(32);

async function aRentedWorker(world: TestApp, owner: TestCaller) {
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(1) }), fleet);
  await host.synced();
  const [worker] = await workersOf(world, fleet);
  assert.ok(worker);
  return { host, fleet, id: worker.instance_id };
}

/** Lists workers with the key in the body alone, as the serverless SDK does. */
async function listOf(world: TestApp, owner: TestCaller, { endpointId }: Fleet) {
  const body = { id: endpointId, api_key: owner.secret };
  const answer = await world.call({ method: "POST", url: "/get_endpoint_workers/", body });
  assert.equal(answer.status, 200, answer.text);
  assert.ok(Array.isArray(answer.body), answer.text);
  return answer.body;
}

function assertNoNull(record: object): void {
  for (const [name, value] of Object.entries(record)) assert.notEqual(value, null, name);
}

test("workers are a bare list with the known fields of each, and no field is ever null", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const { host, fleet, id } = await aRentedWorker(world, owner);
  const [fresh, ...others] = await listOf(world, owner, fleet);
  assert.deepEqual(others, []);
  assertNoNull(fresh);
  assert.equal(fresh.id, id);
  assert.ok(["creating", "loading"].includes(fresh.status), fresh.status);
  for (const unknown of ["url", "loaded_at", "perf", "measured_perf", "cur_perf", "error_msg"]) {
    assert.ok(!(unknown in fresh), unknown);
  }
  await host.obey();
  assert.equal((await listOf(world, owner, fleet))[0].status, "model_loading");
  await bringUp(world, host, [id]);
  world.clock.advance(2_000);
  await sayStatus(world, host, id, { cur_load: 40, num_requests_working: 2, working_request_idxs: [1, 2] });
  const [ready] = await listOf(world, owner, fleet);
  assertNoNull(ready);
  assert.equal(ready.status, "idle");
  assert.deepEqual(
    [ready.measured_perf, ready.perf, ready.cur_load, ready.reqs_working, ready.machine_id, ready.workergroup_id],
    [100, 100, 40, 2, host.machineId, fleet.groupId],
  );
  assert.match(ready.url, /^http:\/\/192\.0\.2\.1:\d+$/);
  assert.equal(typeof ready.gpu_name, "string");
  assert.ok(ready.dlperf > 0 && ready.reliability > 0 && ready.reliability <= 1);
  assert.ok(ready.loaded_at >= ready.started_at && ready.dph_total > 0);
  world.clock.jump(26_000);
  assert.equal((await listOf(world, owner, fleet))[0].status, "unavail");
  await sayStatus(world, host, id, { error_msg: "CUDA out of memory" });
  const [failed] = await listOf(world, owner, fleet);
  assert.deepEqual([failed.status, failed.error_msg], ["error", "it says: CUDA out of memory"]);
});

test("a worker group lists its own workers under their name", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const { fleet, id } = await aRentedWorker(world, owner);
  const listed = async (group: number) => {
    const url = "/get_workergroup_workers/";
    const answer = await world.call({ method: "POST", url, secret: owner.secret, body: { id: group } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.workers.map((worker: { readonly id: number }) => worker.id);
  };
  assert.deepEqual(await listed(fleet.groupId), [id]);
  // The older name answers like an endpoint's list: its callers loop over it.
  const body = { id: fleet.groupId, api_key: owner.secret };
  const bare = await world.call({ method: "POST", url: "/get_autogroup_workers/", body });
  assert.deepEqual(bare.body, await listOf(world, owner, fleet));
  const recipe = { endpoint_id: fleet.endpointId, launch_args: "--image busybox" };
  const other = await world.call({ method: "POST", url: "/api/v0/workergroups/", secret: owner.secret, body: recipe });
  assert.deepEqual(await listed(Number(other.body.id)), []);
});

test("a worker that is being removed is shown until it is gone", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const { fleet, id } = await aRentedWorker(world, owner);
  await world.env.pool.query(
    "update endpoint_workers set state = 'removing', next_removal_at = now(), removal_attempt_count = 1 where instance_id = $1",
    [id],
  );
  const [going] = await listOf(world, owner, fleet);
  assert.deepEqual([going.id, going.status], [id, "destroying"]);
});

test("a refusal without a key, or for an endpoint of another user or none, has its reason where clients read it", async (t) => {
  const world = await testApp(t, { secret });
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const fleet = await aFleet(world, owner);
  for (const [url, id] of [
    ["/get_endpoint_workers/", fleet.endpointId],
    ["/get_workergroup_workers/", fleet.groupId],
    ["/get_autogroup_workers/", fleet.groupId],
  ] as const) {
    const ask = (body: object) => world.call({ method: "POST", url, body });
    const keyless = await ask({ id });
    assert.deepEqual([keyless.status, typeof keyless.body.error_msg], [401, "string"]);
    const foreign = await ask({ id, api_key: stranger.secret });
    const absent = await ask({ id: 2_000_000_000, api_key: stranger.secret });
    for (const { status, body } of [foreign, absent]) {
      assert.deepEqual([status, typeof body.error, typeof body.error_msg], [404, "string", "string"]);
    }
  }
});
