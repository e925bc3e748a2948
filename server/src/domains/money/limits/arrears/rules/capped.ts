// Until when data is kept that a cap does not let anybody pay for.
import { graceHours, HOUR_MS, HOURS_MIN } from "./grace.ts";

/** What a cap leaves now, and when it begins anew; undefined for one on the total. */
export type CapStanding = {
  readonly limitNanos: bigint;
  /** Limit less what was spent in this period and what is held. */
  readonly roomNanos: bigint;
  readonly resetsAt: Date | undefined;
};

type Entry = {
  readonly cap: CapStanding;
  /** What all costs in an hour that is stored within the scope of the cap. */
  readonly storageNanosPerHour: bigint;
  readonly averageDailySpendNanos: bigint;
  /** What was stated when a cap of this scope was reached before, within `REPEATED_DAYS`. */
  readonly statedBefore: Date | undefined;
};

/** So soon it is the same matter: whoever lifts and lowers a cap in turn gets no new time of grace each time. */
export const REPEATED_DAYS = 30;
const HOURS_PER_DAY = 24n;

/**
 * When what is stored within a cap that leaves nothing will be deleted; undefined while there is nothing to state: it
 * leaves something, or begins anew before that time and bears it then.
 */
export function stateDeletion(
  now: Date,
  { cap, storageNanosPerHour, averageDailySpendNanos, statedBefore }: Entry,
): Date | undefined {
  if (cap.roomNanos > 0n || storageNanosPerHour === 0n) return undefined;
  const deleteAt = graceEnd(now, { storageNanosPerHour, averageDailySpendNanos, statedBefore });
  const isOverBefore = cap.resetsAt !== undefined && cap.resetsAt <= deleteAt;
  return isOverBefore && bearsADay(cap.limitNanos, storageNanosPerHour) ? undefined : deleteAt;
}

function graceEnd(
  now: Date,
  { statedBefore, ...custom }: Pick<Entry, "storageNanosPerHour" | "averageDailySpendNanos" | "statedBefore">,
): Date {
  if (statedBefore === undefined) return new Date(now.getTime() + graceHours(custom) * HOUR_MS);
  const least = new Date(now.getTime() + Number(HOURS_MIN) * HOUR_MS);
  return statedBefore > least ? statedBefore : least;
}

/**
 * Whether what was stated is off: the cap is gone, nothing is stored within it, or it bears a day of that again, since it
 * was raised or began anew. One that leaves less than that will be reached again before anybody has noticed.
 */
export function isLifted(cap: CapStanding | undefined, storageNanosPerHour: bigint): boolean {
  return cap === undefined || storageNanosPerHour === 0n || bearsADay(cap.roomNanos, storageNanosPerHour);
}

function bearsADay(nanos: bigint, storageNanosPerHour: bigint): boolean {
  return nanos >= storageNanosPerHour * HOURS_PER_DAY;
}
