import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { testApp } from "../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  rentUpTo,
  sentencesOf,
  workersOf,
} from "../../../../test/support/serverless/workers.ts";
import { until } from "../../../../test/support/until.ts";
import { withTransaction } from "../../db/transaction.ts";
import { recordEvents } from "./autoscaling/event-store.ts";
import { failWorker } from "./autoscaling/failure-service.ts";
import { claimEndpointGroup, lockEndpointGroup } from "./endpoints/store.ts";
import { findWorkerGroupForUpdate, setFailures } from "./worker-groups/store.ts";
import { recordNews } from "./workers/report-news-service.ts";
import { readReport } from "./workers/rules/worker-report.ts";
import { listWorkers } from "./workers/store.ts";

const secret = randomBytes(32);

test("a transaction that holds an endpoint or one of its groups does not block reports of the workers' failures", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(1) }), fleet);
  await bringUp(world, host, [Number((await workersOf(world, fleet))[0]?.instance_id)]);
  const { database } = world.env;
  // The inner transaction ends before the outer one goes on: if it waited for a lock of the outer one, both would hang.
  await withTransaction(database, world.clock, async (deciding) => {
    assert.ok(await lockEndpointGroup(deciding, fleet.endpointId));
    assert.ok(await findWorkerGroupForUpdate(deciding, fleet.groupId, owner.id));
    await withTransaction(database, world.clock, async (reporting) => {
      await sql`set local lock_timeout = '60s'`.execute(reporting.db);
      const [worker] = await listWorkers(reporting.db, fleet.endpointId);
      assert.ok(worker);
      await failWorker(reporting, worker, { reason: "it says so", isCounted: true });
    });
  });
  assert.match((await sentencesOf(world, fleet)).at(-1) ?? "", /failed: it says so/);
  const busy = await withTransaction(database, world.clock, async (reporting) => {
    const about = { endpointGroupId: fleet.endpointId, kind: "change" as const, level: 3 as const };
    await recordEvents(reporting, [{ ...about, sentence: "Something is under way." }]);
    return withTransaction(database, world.clock, (deciding) => claimEndpointGroup(deciding, fleet.endpointId));
  });
  assert.ok(typeof busy === "object", "a transaction that records an event does not delay the decision");
});

test("a report of a failure that waits for its worker group holds no instance or machine by a benchmark", async (t) => {
  const world = await testApp(t, { secret });
  for (let count = 0; count < 2; count += 1) await world.host({ gpus: 1 });
  const fleet = await aFleet(world, await world.caller());
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(2) }), fleet);
  const [measured, failing] = await workersOf(world, fleet);
  assert.ok(measured !== undefined && failing !== undefined);
  const said = [
    { instanceId: measured.instance_id, report: readReport({ max_perf: 250 }), observedPerf: undefined },
    { instanceId: failing.instance_id, report: readReport({ error_msg: "no model" }), observedPerf: undefined },
  ];
  const { database, pool } = world.env;
  const reported = await withTransaction(database, world.clock, async (deciding) => {
    await setFailures(deciding, fleet.groupId, { failureCount: 0, resumesAt: undefined });
    const answer = withTransaction(database, world.clock, (reporting) => recordNews(reporting, said));
    await until("the report waits for the worker group", async () => {
      const waiting = sql`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
      return (await waiting.execute(deciding.db)).rows.length > 0;
    });
    // The decision would rent next, or end a worker.
    await sql`
      select from instances join machines on machines.id = instances.machine_id
      where instances.id = ${measured.instance_id} for update nowait`.execute(deciding.db);
    return { answer };
  });
  assert.ok((await reported.answer).every(({ kind }) => kind === "stored"));
  const { rows } = await pool.query("select instance_id, value from benchmarks");
  assert.deepEqual(rows, [{ instance_id: measured.instance_id, value: 250 }]);
});
