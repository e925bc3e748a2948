import type { Database } from "../../db/connect.ts";
import type { Loop } from "../../base/loop-driver.ts";
import { deleteEmptyLimits } from "../../db/limit-store.ts";

const ROWS_PER_RUN = 50_000;

/** Buckets that are empty say the same as none. */
export function emptyLimitsLoop({ database }: { readonly database: Database }): Loop {
  return {
    name: "forget-empty-limits",
    description: "Deletes what callers have used of their limits of requests, once they may use all of it again.",
    everyMs: 60_000,
    run: async () => ({ forgotten: await deleteEmptyLimits(database.kysely, ROWS_PER_RUN) }),
  };
}
