import type { Clock } from "../../../../base/clock.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import { addUpCharges } from "./charge-day-store.ts";

/** Periods per run; after a longer pause the next runs add up the rest. */
const STRETCHES_PER_RUN = 40;

/** The loop that keeps invoices and charges fast while charge lines accumulate. */
export function chargeDayLoop({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop {
  return {
    name: "add-up-charges",
    description: "Adds up what was charged, by payer, day, contract and component.",
    everyMs: 60_000,
    run: async () => {
      let sums = 0;
      for (let stretch = 0; stretch < STRETCHES_PER_RUN; stretch += 1) {
        const added = await withTransaction(database, clock, addUpCharges);
        if (added === undefined) break;
        sums += added;
      }
      return { sums };
    },
  };
}
