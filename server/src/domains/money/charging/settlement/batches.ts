// How a loop settles everything that is due: in batches, and past rows that cannot be settled.
import type { Clock } from "../../../../base/clock.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";

/** Rows that one transaction settles: few enough for short locks, enough for efficient statements. */
const BATCH_MAX = 500;
/** Batches per run, so that the loop reports now and then. */
const BATCHES_PER_RUN = 400;

/** Failures after which a run gives up: more of them have a common cause, such as a database that is away. */
const FAILURES_MAX = 10;
const POSTPONED_MS = 300_000;

export type Due = {
  /** Names the rows in the report of a failure. */
  readonly noun: "instances" | "volumes";
  /** Settles the rows that have been due longest, at most `size`, in one transaction; returns their number. */
  readonly settle: (size: number) => Promise<number>;
  /** Postpones the row that has been due longest. */
  readonly postponeFirst: (tx: Tx, ms: number) => Promise<void>;
};

/**
 * Settles everything that is due. A row that cannot be settled, which should never happen, does not stop the others:
 * the batch is halved until the row is alone, then the row is postponed and reported.
 */
export async function settleInBatches(database: Database, clock: Clock, due: Due): Promise<void> {
  const failures: unknown[] = [];
  let size = BATCH_MAX;
  for (let batch = 1; batch <= BATCHES_PER_RUN; batch += 1) {
    try {
      const count = await due.settle(size);
      if (count < size) break;
      size = Math.min(BATCH_MAX, size * 4);
    } catch (error) {
      if (size > 1) {
        size = Math.ceil(size / 8);
        continue;
      }
      failures.push(error);
      if (failures.length > FAILURES_MAX) break;
      await withTransaction(database, clock, (tx) => due.postponeFirst(tx, POSTPONED_MS));
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} ${due.noun} could not be settled`);
}
