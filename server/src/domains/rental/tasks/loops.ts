import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { deleteExpiredTasks } from "./store.ts";

const ROWS_PER_RUN = 500;

export function taskLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "delete-expired-tasks",
      description: "Deletes tasks of hosts, and their results, when their time is over.",
      everyMs: 15_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({ deleted: await deleteExpiredTasks(tx, ROWS_PER_RUN) })),
    },
  ];
}
