import type { LedgerCapId, UserId } from "../../../../base/ids.ts";
import { STOP_SECONDS } from "../../../../base/stop-times.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listInstanceCosts, listScopeCosts, NO_COST, type ScopeCost } from "../../../rental/instances/index.ts";
import { kindOfScope, type Cap, type CapScope } from "../../ledger/index.ts";
import { listStoredVolumes, listVolumeCosts } from "../../../supply/volumes/index.ts";
import { accrualsOf } from "./accrued.ts";
import { readBalance } from "./balance.ts";
import { LAST_SECONDS } from "../rules/period.ts";

/**
 * The approximate moment at which each of these caps of a user stops the runs within it, if they continue as now. Caps
 * without runs are left out.
 */
export async function capsStopAt(
  db: Reader,
  now: Date,
  { userId, caps }: { readonly userId: UserId; readonly caps: readonly Cap[] },
): Promise<ReadonlyMap<LedgerCapId, Date>> {
  const costs = await listScopeCosts(
    db,
    [userId],
    caps.map(({ scope }) => scope),
  );
  if (costs.size === 0) return new Map();
  const accruals = await accrualsOf(db, now, userId);
  const stops = new Map<LedgerCapId, Date>();
  for (const { id, scope, limit, spent } of caps) {
    const cost = costs.get(scope);
    if (cost === undefined) continue;
    const accrued = accruals.reduce((sum, one) => (one.scopes.includes(scope) ? sum + one.amountNanos : sum), 0n);
    const volumeNanosPerHour = await volumeCost(db, userId, scope);
    const rates = { ...cost, storageNanosPerHour: cost.storageNanosPerHour + volumeNanosPerHour };
    const at = stopAt(now, limit - spent - accrued, rates);
    if (at !== undefined) stops.set(id, at);
  }
  return stops;
}

/** The approximate moment at which a user's balance stops their runs; undefined when it pays for none. */
export async function balanceStopsAt(db: Reader, now: Date, userId: UserId): Promise<Date | undefined> {
  const cost = (await listInstanceCosts(db, [userId])).get(userId) ?? NO_COST;
  const volumes = (await listVolumeCosts(db, [userId])).get(userId) ?? 0n;
  const { balanceNanos } = await readBalance(db, now, userId);
  const storageNanosPerHour = cost.storageNanosPerHour + volumes;
  return stopAt(now, balanceNanos, { runningNanosPerHour: cost.runningNanosPerHour, storageNanosPerHour });
}

async function volumeCost(db: Reader, userId: UserId, scope: CapScope): Promise<bigint> {
  if (kindOfScope(scope) === "instance") return 0n;
  const volumes = await listStoredVolumes(db, userId, scope);
  return volumes.reduce((sum, { nanosPerHour }) => sum + nanosPerHour, 0n);
}

/** Longest outlook: about a century. */
const HOURS_MAX = 1_000_000n;
const MS_PER_HOUR = 3_600_000n;

/** The moment at which the remainder is used up, less the last step, for which no hold can be placed. */
function stopAt(
  now: Date,
  leftNanos: bigint,
  { runningNanosPerHour, storageNanosPerHour }: ScopeCost,
): Date | undefined {
  const nanosPerHour = runningNanosPerHour + storageNanosPerHour;
  if (runningNanosPerHour <= 0n || leftNanos > nanosPerHour * HOURS_MAX) return undefined;
  const lastsMs = leftNanos > 0n ? (leftNanos * MS_PER_HOUR) / nanosPerHour : 0n;
  const ms = Number(lastsMs) - (STOP_SECONDS + LAST_SECONDS) * 1000;
  return new Date(now.getTime() + Math.max(ms, 0));
}
