import { formatDollars } from "../../../../base/money.ts";
import { describeScope, type Cap } from "../../ledger/index.ts";
import type { CapPeriod } from "../../ledger/for-limits.ts";
import type { Notification } from "../../../notifications/index.ts";

/** The part of a cap, in thousandths, from which its owner is told that it is nearly reached. */
export const NEARLY_PERMILLE = 800;

const PER: Readonly<Record<CapPeriod, string>> = { day: "per day", month: "per month", total: "in total" };

/** The notification on a cap's present state. It stays the same until the period ends or the limit changes. */
export function notificationOf({
  id,
  userId,
  scope,
  period,
  limit,
  spent,
  startedAt,
  reachedAt,
}: Cap): Notification | undefined {
  const isReached = spent >= limit || (reachedAt !== undefined && reachedAt >= startedAt);
  if (!isReached && spent * 1000n < limit * BigInt(NEARLY_PERMILLE)) return undefined;
  const what = `$${formatDollars(limit)} ${PER[period]} for ${describeScope(scope)}`;
  const key = `cap:${id}:${startedAt.getTime()}:${limit}`;
  const figures = `Spent so far: $${formatDollars(spent)} of $${formatDollars(limit)}.`;
  if (isReached) {
    const message =
      `The cap of ${what} is reached. ${figures} What it limits is stopped with its data kept, and starts again when ` +
      `the cap is raised${period === "total" ? "" : " or its next period begins"}.`;
    return { userId, kind: "client:cap_reached", subject: "A spending cap is reached", message, key: `${key}:reached` };
  }
  const message = `The cap of ${what} is nearly reached. ${figures} What it limits is stopped when nothing is left.`;
  return {
    userId,
    kind: "client:cap_nearly_reached",
    subject: "A spending cap is nearly reached",
    message,
    key: `${key}:nearly`,
  };
}
