import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rentAndRun, setState } from "../../../../../../test/support/rentals.ts";

async function make(world: TestApp, by: TestCaller, path: string, body: object): Promise<number> {
  const answer = await world.call({ method: "POST", url: `/api/v0/${path}/`, secret: by.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.result;
}

async function hourlyOf(world: TestApp, by: TestCaller, of: "endpoints" | "workergroups") {
  const { status, body, text } = await world.call({ url: `/api/v0/serverless/${of}/spend`, secret: by.secret });
  assert.equal(status, 200, text);
  return { rows: body[of], at: body.data_timestamp };
}

test("every endpoint and worker group says what its workers cost an hour now, and no other instance counts", async (t) => {
  const world = await testApp(t);
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const quiet = { cold_workers: 0, min_load: 0 };
  const [busy, idle] = [
    await make(world, owner, "endptjobs", { endpoint_name: "busy", ...quiet }),
    await make(world, owner, "endptjobs", { endpoint_name: "idle", ...quiet }),
  ];
  await make(world, stranger, "endptjobs", quiet);
  const settings = { endpoint_name: "busy", launch_args: "--image busybox", ...quiet, test_workers: 0 };
  const [one, two] = [
    await make(world, owner, "workergroups", settings),
    await make(world, owner, "workergroups", settings),
  ];
  const host = await world.host({ gpus: 4 });
  const workers = [
    { id: await rentAndRun(world, owner, host, { disk: 48 }), group: one },
    { id: await rentAndRun(world, owner, host, { disk: 48 }), group: two },
    { id: await rentAndRun(world, owner, host, { disk: 48 }), group: null },
  ];
  await rentAndRun(world, owner, host, { disk: 48 });
  for (const { id, group } of workers) {
    await world.env.pool.query(
      `insert into endpoint_workers (instance_id, endpoint_group_id, worker_group_id, state, created_at)
       values ($1, $2, $3, 'active', now())`,
      [id, busy, group],
    );
  }
  assert.equal((await setState(world, owner, workers[0]?.id ?? 0, "stopped")).status, 200);
  await host.obey();
  const endpoints = await hourlyOf(world, owner, "endpoints");
  assert.deepEqual(endpoints.rows, [
    { id: busy, hourly_spend: 0.63 },
    { id: idle, hourly_spend: 0 },
  ]);
  assert.equal(endpoints.at, world.clock.now().getTime() / 1000);
  assert.deepEqual((await hourlyOf(world, owner, "workergroups")).rows, [
    { id: one, hourly_spend: 0.01 },
    { id: two, hourly_spend: 0.31 },
  ]);
  assert.deepEqual((await hourlyOf(world, stranger, "workergroups")).rows, []);
});
