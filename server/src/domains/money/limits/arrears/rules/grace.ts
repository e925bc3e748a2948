import { invariant } from "../../../../../base/invariant.ts";

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
 * How many hours data is kept that nobody pays for, and no host is paid for: as long as what the account spends on an
 * average day would pay for it, within limits.
 */
export function graceHours({ averageDailySpendNanos, storageNanosPerHour }: Custom): number {
  invariant(storageNanosPerHour > 0n, "only what costs something is kept for a while");
  const hours = averageDailySpendNanos / storageNanosPerHour;
  return Number(hours < HOURS_MIN ? HOURS_MIN : hours > HOURS_MAX ? HOURS_MAX : hours);
}

/** Of what an account has paid in by itself, storage of at most this share is kept unpaid beyond the least time. */
const PAID_IN_SHARE = 10n;

type Standing = Custom & {
  /** What the account has ever paid in by card, less what went back; granted and received credit is no part of it. */
  readonly paidInNanos: bigint;
  /** The operator's limit on what is kept unpaid beyond the least time. */
  readonly limitNanos: bigint;
};

/**
 * Until when data is kept. Beyond the least time nothing is kept that is worth more than a tenth of what the account has
 * paid in, or than the operator's limit: what it spent may have been granted, or gone to a friend. Within thirty days of earlier arrears it is the same matter: what was stated before holds, but
 * everybody has the least time.
 */
export function keptUntil(now: Date, standing: Standing, earlierDeleteAt: Date | undefined): Date {
  const earliest = new Date(now.getTime() + Number(HOURS_MIN) * HOUR_MS);
  if (earlierDeleteAt !== undefined) return earlierDeleteAt > earliest ? earlierDeleteAt : earliest;
  const { averageDailySpendNanos, paidInNanos, limitNanos, storageNanosPerHour } = standing;
  const worth = [averageDailySpendNanos, paidInNanos / PAID_IN_SHARE, limitNanos].reduce((least, one) =>
    one < least ? one : least,
  );
  return new Date(now.getTime() + graceHours({ averageDailySpendNanos: worth, storageNanosPerHour }) * HOUR_MS);
}

/** Arrears end when the account bears this much of its storage: less would only bring the next ones. */
const LASTING_HOURS = 24n;

export function bearsStorage(leftNanos: bigint, storageNanosPerHour: bigint): boolean {
  return leftNanos >= storageNanosPerHour * LASTING_HOURS;
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
