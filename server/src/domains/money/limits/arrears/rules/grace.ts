import { invariant } from "../../../../../base/invariant.ts";

/** The least time that data is kept: a weekend, for any spending. */
export const HOURS_MIN = 48n;
/** The longest time that data is kept: two weeks. */
const HOURS_MAX = 336n;
export const HOUR_MS = 3_600_000;
const LAST_REMINDER_MS = 24 * HOUR_MS;

type SpendingFacts = {
  /** The average daily charges for usage over the last thirty days. */
  readonly averageDailySpendNanos: bigint;
  /** The hourly price of the account's data while it is kept. */
  readonly storageNanosPerHour: bigint;
};

/**
 * The hours that unpaid data is kept, for which no host is paid: as long as the account's average daily spending would
 * pay for it, within limits.
 */
export function graceHours({ averageDailySpendNanos, storageNanosPerHour }: SpendingFacts): number {
  invariant(storageNanosPerHour > 0n, "only what costs something is kept for a while");
  const hours = averageDailySpendNanos / storageNanosPerHour;
  return Number(hours < HOURS_MIN ? HOURS_MIN : hours > HOURS_MAX ? HOURS_MAX : hours);
}

/** Divisor of what an account has paid in: storage beyond the least time may be worth at most a tenth of it. */
const PAID_IN_SHARE = 10n;

type AccountFacts = SpendingFacts & {
  /** All card payments of the account, less what went back. Granted and received credit does not count. */
  readonly paidInNanos: bigint;
  /** The operator's limit on what is kept unpaid beyond the least time. */
  readonly limitNanos: bigint;
};

/**
 * Until when data is kept. Beyond the least time the unpaid storage may be worth at most a tenth of what the account
 * has paid in, and at most the operator's limit: its spending may have been granted, or gone to a friend. Arrears
 * within thirty days of earlier ones keep the time that was stated, but never less than the least time.
 */
export function keptUntil(now: Date, facts: AccountFacts, earlierDeleteAt: Date | undefined): Date {
  const earliest = new Date(now.getTime() + Number(HOURS_MIN) * HOUR_MS);
  if (earlierDeleteAt !== undefined) return earlierDeleteAt > earliest ? earlierDeleteAt : earliest;
  const { averageDailySpendNanos, paidInNanos, limitNanos, storageNanosPerHour } = facts;
  const worth = [averageDailySpendNanos, paidInNanos / PAID_IN_SHARE, limitNanos].reduce((least, one) =>
    one < least ? one : least,
  );
  return new Date(now.getTime() + graceHours({ averageDailySpendNanos: worth, storageNanosPerHour }) * HOUR_MS);
}

/** Arrears end when the account can pay this much of its storage: with less, the next arrears would follow at once. */
const LASTING_HOURS = 24n;

export function bearsStorage(leftNanos: bigint, storageNanosPerHour: bigint): boolean {
  return leftNanos >= storageNanosPerHour * LASTING_HOURS;
}

type Stretch = { readonly beganAt: Date; readonly deleteAt: Date };
export type Reminder = "half" | "last";

/** The reminders that are due: at half time, and a day before the end. */
export function remindersDue({ beganAt, deleteAt }: Stretch, now: Date): readonly Reminder[] {
  if (now >= deleteAt) return [];
  const halfMs = (beganAt.getTime() + deleteAt.getTime()) / 2;
  const lastMs = deleteAt.getTime() - LAST_REMINDER_MS;
  const due: Reminder[] = [];
  // When both are due at the same time, the last one is enough.
  if (now.getTime() >= lastMs) due.push("last");
  else if (now.getTime() >= halfMs) due.push("half");
  return due;
}
