import { formatDollars } from "../../../../../base/money.ts";
import type { UserId } from "../../../../../base/ids.ts";
import type { Notification } from "../../../../notifications/index.ts";
import type { ToldHours } from "./drops.ts";
import type { Reminder } from "./grace.ts";
import type { Arrears } from "../store.ts";

export const DELETION_KIND = "client:data_deletion_scheduled";

/** Warns that credit will not last long. */
export function lowCreditNotification(
  userId: UserId,
  {
    dropCount,
    hours,
    balance,
    nanosPerHour,
  }: {
    readonly dropCount: number;
    readonly hours: ToldHours;
    readonly balance: bigint;
    readonly nanosPerHour: bigint;
  },
): Notification {
  const time = hours === 1 ? "an hour" : `${hours} hours`;
  const left = `You have $${formatDollars(balance)}, and use $${formatDollars(nanosPerHour)} an hour.`;
  return {
    userId,
    kind: "client:low_credit",
    subject: `Your credit lasts less than ${time}`,
    message: `${left} When your credit is used up, instances are stopped and their data is kept for a limited time. Add credit to go on.`,
    key: `low_credit:${dropCount}:${hours}`,
  };
}

/** Tells that credit is used up, and until when data is kept. */
export function entryNotifications({ id, userId, deleteAt }: Arrears): readonly Notification[] {
  const until = timeText(deleteAt);
  return [
    {
      userId,
      kind: "client:low_credit",
      subject: "Your credit is used up",
      message: `Nothing runs any more. Your data is kept until ${until}. Add credit to start again.`,
      key: `arrears:${id}:empty`,
    },
    {
      userId,
      kind: DELETION_KIND,
      subject: "Your data is kept for a while",
      message:
        `Your credit does not pay for what you have stored. Your instances and volumes are kept until ${until} and are ` +
        "deleted then, unless your credit pays for a day of it before.",
      key: `arrears:${id}:entry`,
    },
  ];
}

export function reminderNotification({ id, userId, deleteAt }: Arrears, reminder: Reminder): Notification {
  return {
    userId,
    kind: DELETION_KIND,
    subject: reminder === "last" ? "Your data is deleted within a day" : "Your data will be deleted",
    message:
      `Your instances and volumes are deleted at ${timeText(deleteAt)}, unless your credit pays for a day of it before. ` +
      "Add credit, or save what you need.",
    key: `arrears:${id}:${reminder}`,
  };
}

export function deletedNotification({ id, userId }: Arrears): Notification {
  return {
    userId,
    kind: "client:data_deleted",
    subject: "Your data was deleted",
    message:
      "Your credit did not pay for what you had stored, so your instances and volumes were deleted as announced.",
    key: `arrears:${id}:deleted`,
  };
}

/** The time in a message: `2026-01-31 12:00 UTC`. */
export function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
