import type { Clock } from "../../../../base/clock.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { ApiKeyId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Database } from "../../../../db/connect.ts";
import { upsertSessionUses, type SessionUse } from "./session-use-store.ts";
import { upsertIpAccesses, type IpAccesses } from "./store.ts";

/** How often the loop writes. */
export const IP_HISTORY_FLUSH_MS = 1_000;

/** Different pairs of user and address that may wait; more in one second is no ordinary traffic. */
const WAITING_MAX = 50_000;
const BATCH_MAX = 5_000;

export type IpHistory = {
  /**
   * Notes a request, and the last use of its session. Never waits: requests from one address are counted in memory until the
   * next flush.
   */
  record(identity: Identity, ipAddress: string, userAgent?: string): void;
  /**
   * Writes all waiting requests, including those recorded just before the call, and returns the number of rows. Rows
   * that the database refuses wait for the next flush. Called by the loop, at shutdown, and before reading.
   */
  flush(): Promise<{ readonly written: number; readonly dropped: number }>;
};

/** The history of addresses of each user, and the last use of each session, written outside the requests that it records. */
export function createIpHistory({
  database,
  clock,
  log,
  waitingMax = WAITING_MAX,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly waitingMax?: number;
}): IpHistory {
  const waiting = new Map<string, IpAccesses>();
  const uses = new Map<ApiKeyId, SessionUse>();
  let dropped = 0;
  let lastFlush: Promise<unknown> = Promise.resolve();

  const add = (accesses: IpAccesses) => {
    const key = `${accesses.userId} ${accesses.ipAddress}`;
    const known = waiting.get(key);
    if (known === undefined && waiting.size >= waitingMax) {
      dropped += accesses.requestCount;
      return;
    }
    waiting.set(key, known === undefined ? accesses : combine(known, accesses));
  };

  const writeAll = async () => {
    const pending = [...waiting.values()];
    waiting.clear();
    for (let start = 0; start < pending.length; start += BATCH_MAX) {
      try {
        await upsertIpAccesses(database.kysely, pending.slice(start, start + BATCH_MAX));
      } catch (error) {
        pending.slice(start).forEach(add);
        throw error;
      }
    }
    // Uses that the database refuses are forgotten: the next use says the same.
    const used = [...uses.values()];
    uses.clear();
    await upsertSessionUses(database.kysely, used);
    const droppedNow = dropped;
    dropped = 0;
    if (droppedNow > 0)
      log.warn({ dropped: droppedNow }, "too many addresses at once: some requests are not in the history");
    return { written: pending.length, dropped: droppedNow };
  };

  return {
    record({ userId, apiKeyId: sessionId, session, view }, ipAddress, userAgent) {
      const now = clock.now();
      if (session !== undefined && uses.size < waitingMax) {
        uses.set(sessionId, { sessionId, ipAddress, userAgent, usedAt: now });
      }
      // The address of an administrator is not one of the account that they see.
      if (view === undefined) add({ userId, ipAddress, firstSeenAt: now, lastSeenAt: now, requestCount: 1 });
    },
    flush() {
      // Flushes run one after the other: a batch that failed is back before the next flush looks.
      const mine = lastFlush.then(writeAll, writeAll);
      lastFlush = mine.catch(() => undefined);
      return mine;
    },
  };
}

function combine(a: IpAccesses, b: IpAccesses): IpAccesses {
  return {
    userId: a.userId,
    ipAddress: a.ipAddress,
    firstSeenAt: a.firstSeenAt < b.firstSeenAt ? a.firstSeenAt : b.firstSeenAt,
    lastSeenAt: a.lastSeenAt > b.lastSeenAt ? a.lastSeenAt : b.lastSeenAt,
    requestCount: a.requestCount + b.requestCount,
  };
}
