import { invalid } from "../../../../base/errors.ts";
import type { MachineId } from "../../../../base/ids.ts";
import { nanos, toDollars, type Nanos } from "../../../../base/money.ts";
import { storageNanosPerHour } from "../../../../base/hourly-price.ts";
import type { EarningSum, UsageCode } from "../../../money/ledger/index.ts";
import type { Rental } from "../../../rental/instances/index.ts";

/** The query of an earnings report: days since 1970, which clients write with fractions. */
export type EarningsQuery = {
  readonly sday?: number;
  readonly eday?: number;
  readonly last_days?: number;
};

export type Days = { readonly first: number; readonly last: number };

const DAY_MS = 86_400_000;
export const DEFAULT_DAYS = 30;
export const DAYS_MAX = 3660;
/** The last day of the year 9999: seconds sent instead of days lie beyond it. */
export const LAST_DAY = 2_932_896;

export function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

/** The days of a report, both included: by default the last 30 up to today. Throws naming the field. */
export function planDays({ sday, eday, last_days: lastDays }: EarningsQuery, now: Date): Days {
  const last = readDay("eday", eday) ?? dayOf(now);
  if (lastDays !== undefined && sday !== undefined) {
    throw invalid("last_days", "last_days and sday exclude each other");
  }
  if (lastDays !== undefined && !(lastDays > 0 && lastDays <= DAYS_MAX)) {
    throw invalid("last_days", `last_days must be above 0, and at most ${DAYS_MAX}`);
  }
  const first = readDay("sday", sday) ?? Math.max(0, last - Math.ceil(lastDays ?? DEFAULT_DAYS) + 1);
  if (first > last) throw invalid("sday", "sday must not be after eday");
  if (last - first >= DAYS_MAX) throw invalid("sday", `sday must be at most ${DAYS_MAX} days before eday`);
  return { first, last };
}

function readDay(field: "sday" | "eday", day: number | undefined): number | undefined {
  if (day === undefined) return undefined;
  if (!(day >= 0 && day <= LAST_DAY)) throw invalid(field, `${field} must be a number of days since 1970`);
  return Math.floor(day);
}

/** Dollars by component. */
export type Earned = Readonly<Record<"gpu_earn" | "sto_earn" | "bwu_earn" | "bwd_earn" | "sla_earn", number>>;

/** Dollars of these sums by component. Added up in nano-dollars and rounded last. */
export function earnedBy(sums: readonly EarningSum[]): Earned {
  const amount = (code: UsageCode) =>
    toDollars(sums.reduce((total, sum) => (sum.code === code ? total + sum.amount : total), 0n));
  return {
    gpu_earn: amount("usage_gpu"),
    sto_earn: amount("usage_storage"),
    bwu_earn: amount("usage_bandwidth_up"),
    bwd_earn: amount("usage_bandwidth_down"),
    sla_earn: 0,
  };
}

/** The present reliability of machines, from 0 to 1. */
export type Reliability = ReadonlyMap<MachineId, number>;

/** The mean to four decimals; null without machines. */
export function meanReliability(reliability: Reliability): number | null {
  if (reliability.size === 0) return null;
  const sum = [...reliability.values()].reduce((total, one) => total + one, 0);
  return Math.round((sum / reliability.size) * 10_000) / 10_000;
}

/** Total earnings of a machine in these days. */
export function totalOf(sums: readonly EarningSum[], machineId: MachineId, { first, last }: Days): Nanos {
  const own = sums.filter((sum) => sum.machineId === machineId && sum.day >= first && sum.day <= last);
  return nanos(own.reduce((total, sum) => total + sum.amount, 0n));
}

const PPM = 1_000_000n;

/** The part of a rental that decides what it pays now. */
type Paying = Pick<Rental, "phase" | "priceNanosPerHour" | "discountPpm" | "storageNanosPerGbMonth" | "diskBytes">;

/**
 * Nano-dollars that these rentals pay for an hour as long as nothing changes: their disks, and the running time of those
 * that run. A machine that is away may have stopped them, so only its disks count.
 */
export function earnedPerHour(rentals: readonly Paying[], { isConnected }: { readonly isConnected: boolean }): bigint {
  return rentals.reduce((total, rental) => {
    const { phase, priceNanosPerHour, discountPpm } = rental;
    const isRunning = isConnected && (phase === "running" || phase === "yielding");
    const running = isRunning ? (priceNanosPerHour * (PPM - BigInt(discountPpm))) / PPM : 0n;
    return total + running + storageNanosPerHour(rental);
  }, 0n);
}
