import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { recordAudits, type Act } from "./store.ts";

/** How often the loop writes. */
export const ACTS_FLUSH_MS = 1_000;

/** Acts that may wait for the database; about a minute of the fastest market that was measured. */
const WAITING_MAX = 100_000;
const BATCH_MAX = 500;

export type ActLog = {
  /** Notes an act that has just been done. Never waits. */
  note(act: Omit<Act, "createdAt">): void;
  /** Writes all acts that were noted. Called by the loop, at shutdown, and before the audit log is read. */
  flush(): Promise<{ readonly written: number }>;
};

/**
 * Acts that no use case records by itself, written in batches behind their requests: one link of the chain of facts for
 * each batch, so that rents do not wait for each other there. A server that is killed loses those of the last second; what
 * they did is in the rows of instances, volumes and endpoints all the same.
 */
export function createActLog({
  database,
  clock,
  log,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}): ActLog {
  let waiting: Act[] = [];
  let lost = 0;
  let lastFlush: Promise<unknown> = Promise.resolve();

  const writeAll = async () => {
    const pending = waiting;
    waiting = [];
    let written = 0;
    while (written < pending.length) {
      const batch = pending.slice(written, written + BATCH_MAX);
      try {
        await withTransaction(database, clock, (tx) => recordAudits(tx, batch));
      } catch (error) {
        waiting = [...pending.slice(written), ...waiting];
        throw error;
      }
      written += batch.length;
    }
    if (lost > 0) log.error({ lost }, "the database took no entries of the audit log for so long that some are lost");
    lost = 0;
    return { written };
  };

  return {
    note(act) {
      if (waiting.length >= WAITING_MAX) lost += 1;
      else waiting.push({ ...act, createdAt: clock.now() });
    },
    flush() {
      // Flushes run one after the other, so that acts keep their order.
      const mine = lastFlush.then(writeAll, writeAll);
      lastFlush = mine.catch(() => undefined);
      return mine;
    },
  };
}
