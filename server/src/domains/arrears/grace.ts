import { invariant } from "../../base/invariant.ts";
import { nanos, type Nanos } from "../../base/money.ts";

/** However little somebody has spent: a weekend. */
export const HOURS_MIN = 48n;
/** However much: two weeks. */
const HOURS_MAX = 336n;
export const HOUR_MS = 3_600_000;
const LAST_REMINDER_MS = 24 * HOUR_MS;

type Custom = {
  /** What the account paid for usage on an average day of the last thirty. */
  readonly averageDailySpendNanos: bigint;
  /** What its data costs, as long as it is kept. */
  readonly storageNanosPerHour: bigint;
};

/**
 * How many hours data is kept that nobody pays for. The house advances what the account spends on an average day: as long
 * as that pays for the data, within limits.
 */
export function graceHours({ averageDailySpendNanos, storageNanosPerHour }: Custom): number {
  invariant(storageNanosPerHour > 0n, "only what costs something is kept on credit");
  const hours = averageDailySpendNanos / storageNanosPerHour;
  return Number(hours < HOURS_MIN ? HOURS_MIN : hours > HOURS_MAX ? HOURS_MAX : hours);
}

export type Grace = { readonly deleteAt: Date; readonly floor: Nanos };

/**
 * Until when data is kept, and how far below zero credit may go until then: by what was used already and is not paid, and
 * by what the data costs until then.
 */
export function graceOf(now: Date, { owed, ...custom }: Custom & { readonly owed: bigint }): Grace {
  const hours = graceHours(custom);
  const owedNow = owed > 0n ? owed : 0n;
  return {
    deleteAt: new Date(now.getTime() + hours * HOUR_MS),
    floor: nanos(-owedNow - custom.storageNanosPerHour * BigInt(hours)),
  };
}

type Stretch = { readonly beganAt: Date; readonly deleteAt: Date };
export type Reminder = "half" | "last";

/** Which reminders are due: at half time, and a day before the end. */
export function remindersDue({ beganAt, deleteAt }: Stretch, now: Date): readonly Reminder[] {
  if (now >= deleteAt) return [];
  const halfMs = (beganAt.getTime() + deleteAt.getTime()) / 2;
  const lastMs = deleteAt.getTime() - LAST_REMINDER_MS;
  const due: Reminder[] = [];
  // Where both are at the same time, the one that says more is enough.
  if (now.getTime() >= lastMs) due.push("last");
  else if (now.getTime() >= halfMs) due.push("half");
  return due;
}
