import type { Clock } from "../../base/clock.ts";
import type { Loop } from "../../base/loop-driver.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { deleteOldChanges, numberChanges } from "./store.ts";

/** How long a follower may be away and still resume. */
const KEPT_MS = 3_600_000;
const ROWS_PER_ROUND = 5_000;
const ROUNDS_PER_RUN = 200;

export function liveLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "forget-live-changes",
      description: "Deletes changes that are too old for followers of events to resume from.",
      everyMs: 60_000,
      run: async () => {
        // Changes that nobody listened to have no number yet, and the floor rises by numbers.
        await numberChanges(database.kysely);
        let forgotten = 0;
        for (let round = 1; round <= ROUNDS_PER_RUN; round += 1) {
          const count = await withTransaction(database, clock, (tx) => deleteOldChanges(tx, KEPT_MS, ROWS_PER_ROUND));
          forgotten += count;
          if (count < ROWS_PER_ROUND) break;
        }
        return { forgotten };
      },
    },
  ];
}
