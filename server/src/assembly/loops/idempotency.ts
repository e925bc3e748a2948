import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Loop } from "../../base/loop-driver.ts";
import { deleteKeysBefore } from "../../db/idempotency-store.ts";

/** The time for which a stored answer can be asked for again. */
const KEPT_MS = 7 * 86_400_000;

export function idempotencyLoop({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop {
  return {
    name: "forget-idempotency-keys",
    description: "Deletes stored answers that are older than a week.",
    everyMs: 3_600_000,
    run: () =>
      withTransaction(database, clock, async (tx) => ({
        forgotten: await deleteKeysBefore(tx, new Date(tx.now.getTime() - KEPT_MS)),
      })),
  };
}
