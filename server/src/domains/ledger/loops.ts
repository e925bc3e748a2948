import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Loop } from "../../loops/driver.ts";
import { addUpEarnings } from "./earnings-store.ts";

/** What keeps reports quick however many transfers there are. */
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
  ];
}
