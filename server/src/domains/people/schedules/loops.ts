import type { Clock } from "../../../base/clock.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { JobRunner } from "./job-runner.ts";
import { deleteRunsBefore } from "./run-store.ts";
import { deleteClosed } from "./store.ts";

const RUNS_KEPT_MS = 90 * 86_400_000;
const CLOSED_KEPT_MS = 30 * 86_400_000;
const ROWS_PER_RUN = 5_000;

export function runJobsLoop(runner: JobRunner): Loop {
  return {
    name: "run-scheduled-jobs",
    description: "Begins scheduled jobs that are due, and notes runs whose server is gone.",
    everyMs: 1_000,
    run: () => runner.run(),
  };
}

export function scheduleLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "forget-scheduled-runs",
      description: "Deletes runs of scheduled jobs after 90 days, and jobs that have been over for 30 days.",
      everyMs: 600_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({
          runs: await deleteRunsBefore(tx, new Date(tx.now.getTime() - RUNS_KEPT_MS), ROWS_PER_RUN),
          jobs: await deleteClosed(tx, new Date(tx.now.getTime() - CLOSED_KEPT_MS), ROWS_PER_RUN),
        })),
    },
  ];
}
