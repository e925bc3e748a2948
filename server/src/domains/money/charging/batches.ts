// How a loop goes through all that is due, whatever it is: in batches, and past what cannot be settled.
import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";

/** What one transaction settles: its locks are short, and its statements long enough. */
const BATCH_MAX = 500;
/** Nobody waits for a run of the loop, but its report should come now and then. */
const BATCHES_PER_RUN = 400;

/** More of them mean that the fault is not theirs: a database that is away, for example. */
const FAILURES_MAX = 10;
const POSTPONED_MS = 300_000;

export type Due = {
  /** What it is about, for whoever reads of a failure. */
  readonly noun: "instances" | "volumes";
  /** Settles those that are due the longest, so many at most, in one transaction; returns how many there were. */
  readonly settle: (size: number) => Promise<number>;
  /** Puts off the one that is due the longest. */
  readonly postponeFirst: (tx: Tx, ms: number) => Promise<void>;
};

/**
 * Settles everything that is due. One that cannot be settled, which nothing should lead to, keeps nobody else from it:
 * the batch is divided until it is alone, and it is put off, and said.
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
