import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { addUpEarnings } from "./earnings/earnings-store.ts";
import { deleteClosedHolds } from "./hold-store.ts";

/** Time for which closed holds can still be looked up; nothing is computed from them. */
const CLOSED_HOLDS_KEPT_MS = 7 * 86_400_000;
const HOLDS_PER_ROUND = 5_000;
/** Rounds per run: three times the holds that the settlements of 100,000 running instances close in ten minutes. */
const ROUNDS_PER_RUN = 10;

/** Loops that keep reports fast and tables small while transfers accumulate. */
export function ledgerLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "add-up-earnings",
      description: "Adds up what usage earned hosts, by day and machine.",
      everyMs: 60_000,
      run: async () => ({ sums: await withTransaction(database, clock, addUpEarnings) }),
    },
    {
      name: "forget-closed-holds",
      description: "Deletes holds that were closed a week ago.",
      everyMs: 600_000,
      run: async () => ({ holds: await forgetClosedHolds(database, clock) }),
    },
  ];
}

async function forgetClosedHolds(database: Database, clock: Clock): Promise<number> {
  let deleted = 0;
  for (let round = 1; round <= ROUNDS_PER_RUN; round += 1) {
    const count = await withTransaction(database, clock, (tx) =>
      deleteClosedHolds(tx, new Date(tx.now.getTime() - CLOSED_HOLDS_KEPT_MS), HOLDS_PER_ROUND),
    );
    deleted += count;
    if (count < HOLDS_PER_ROUND) break;
  }
  return deleted;
}
