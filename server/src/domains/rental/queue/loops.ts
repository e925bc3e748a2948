import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { MATCH_EVERY_MS, type Matcher } from "./matcher.ts";
import { deleteClosed, expireDue } from "./store.ts";

export const MATCH_LOOP = "match-standing-requests";

const ROWS_PER_RUN = 500;
/** A closed request can be looked up for 30 days. */
const KEPT_MS = 30 * 86_400_000;

export function matchLoop(matcher: Matcher): Loop {
  return {
    name: MATCH_LOOP,
    description: "Rents matching offers for standing requests, the oldest request first.",
    everyMs: MATCH_EVERY_MS,
    run: () => matcher.run(),
  };
}

type Deps = { readonly database: Database; readonly clock: Clock };

export function queueLoops({ database, clock }: Deps): readonly Loop[] {
  return [
    {
      name: "close-standing-requests",
      description: "Closes standing requests whose time is over, and deletes those that were closed 30 days ago.",
      everyMs: 15_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({
          expired: await expireDue(tx, ROWS_PER_RUN),
          forgotten: await deleteClosed(tx, new Date(tx.now.getTime() - KEPT_MS), ROWS_PER_RUN),
        })),
    },
  ];
}
