// Decides until when data is kept whose storage a cap does not let anybody pay for.
import { graceHours, HOUR_MS, HOURS_MIN } from "./grace.ts";

/** The state of a cap now. A cap on the total has no next period. */
export type CapState = {
  readonly limitNanos: bigint;
  /** The limit less what was spent in this period and what is held. */
  readonly roomNanos: bigint;
  readonly resetsAt: Date | undefined;
};

type Entry = {
  readonly cap: CapState;
  /** The hourly price of all storage within the scope of the cap. */
  readonly storageNanosPerHour: bigint;
  readonly averageDailySpendNanos: bigint;
  /** The deletion time that was stated when a cap of this scope was reached before, within `REPEATED_DAYS`. */
  readonly statedBefore: Date | undefined;
};

/**
 * Within this time earlier arrears count as the same, so that lifting and lowering a cap in turn gives no new time of
 * grace.
 */
export const REPEATED_DAYS = 30;
const HOURS_PER_DAY = 24n;

/**
 * When the data within a cap that leaves nothing will be deleted. Undefined while there is nothing to state: the cap
 * leaves something, or its next period begins before that time and pays the storage.
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
 * True when the stated deletion is off: the cap is gone, nothing is stored within it, or it pays a day of storage
 * again, since it was raised or a period began. A cap that leaves less would be reached again before anybody noticed.
 */
export function isLifted(cap: CapState | undefined, storageNanosPerHour: bigint): boolean {
  return cap === undefined || storageNanosPerHour === 0n || bearsADay(cap.roomNanos, storageNanosPerHour);
}

function bearsADay(nanos: bigint, storageNanosPerHour: bigint): boolean {
  return nanos >= storageNanosPerHour * HOURS_PER_DAY;
}
