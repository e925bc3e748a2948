import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  rentUpTo,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { recordNews } from "./report-news-service.ts";
import { readReport } from "./rules/worker-report.ts";

const secret = randomBytes(32);

test("each report counts among those that are stored together, and those of one worker follow each other", async (t) => {
  const world = await testApp(t, { secret });
  for (let count = 0; count < 2; count += 1) await world.host({ gpus: 1 });
  const fleet = await aFleet(world, await world.caller());
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(2) });
  await decideNow(autoscaler, fleet);
  const [one, other] = (await workersOf(world, fleet)).map((worker) => worker.instance_id);
  assert.ok(one !== undefined && other !== undefined);
  const said = [
    { instanceId: one, body: { max_perf: 10, additional_disk_usage: 1, new_load: 5, cur_load: 5 } },
    { instanceId: other, body: { max_perf: 40, additional_disk_usage: 4, error_msg: "no model" } },
    { instanceId: one, body: { max_perf: 20, additional_disk_usage: 2, cur_load: 3, num_requests_working: 1 } },
    { instanceId: other, body: { max_perf: 50, error_msg: "no model" } },
  ];
  const outcomes = await withTransaction(world.env.database, world.clock, (tx) =>
    recordNews(
      tx,
      said.map(({ instanceId, body }) => ({ instanceId, report: readReport(body), observedPerf: undefined })),
    ),
  );
  assert.ok(outcomes.every(({ kind }) => kind === "stored"));
  const { rows } = await world.env.pool.query(
    `select claimed_perf as perf, disk_usage_gb as disk, current_load as load, working_count as count, failure,
       active_at is not null as "isActive" from endpoint_workers order by instance_id`,
  );
  assert.deepEqual(rows, [
    { perf: 20, disk: 3, load: 3, count: 1, failure: "", isActive: true },
    { perf: 50, disk: 4, load: 0, count: 0, failure: "it says: no model", isActive: false },
  ]);
  const groups = await world.env.pool.query("select failure_count from worker_groups");
  assert.deepEqual(groups.rows, [{ failure_count: 1 }], "it failed once");
});
