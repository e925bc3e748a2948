import { describeScope } from "../../ledger/index.ts";
import type { Notification } from "../../../notifications/index.ts";
import type { CapArrears } from "./capped-store.ts";
import type { Reminder } from "./rules/grace.ts";
import { DELETION_KIND, timeText } from "./rules/notifications.ts";

const PER = { day: "per day", month: "per month", total: "in total" } as const;

/** Tells the owner that a cap leaves nothing for storage within its scope, and until when the data is kept. */
export function cappedEntryNotification(arrears: CapArrears): Notification {
  const { id, userId } = arrears;
  return {
    userId,
    kind: DELETION_KIND,
    subject: "A cap leaves nothing for what you have stored",
    message: `${nameOf(arrears)} leaves nothing for what is stored within it. ${stateOf(arrears)}`,
    key: `cap_arrears:${id}:entry`,
  };
}

export function cappedReminderNotification(arrears: CapArrears, reminder: Reminder): Notification {
  const { id, userId } = arrears;
  return {
    userId,
    kind: DELETION_KIND,
    subject: reminder === "last" ? "Data beyond a cap is deleted within a day" : "Data beyond a cap will be deleted",
    message: `${nameOf(arrears)} still leaves nothing for what is stored within it. ${stateOf(arrears)}`,
    key: `cap_arrears:${id}:${reminder}`,
  };
}

export function cappedDeletedNotification(arrears: CapArrears): Notification {
  const { id, userId } = arrears;
  return {
    userId,
    kind: "client:data_deleted",
    subject: "Data beyond a cap was deleted",
    message:
      `${nameOf(arrears)} left nothing for what was stored within it, so its instances and volumes were deleted as ` +
      "announced.",
    key: `cap_arrears:${id}:deleted`,
  };
}

function nameOf({ scope, period }: CapArrears): string {
  return `The cap of ${describeScope(scope)} ${PER[period]}`;
}

function stateOf({ deleteAt, period }: CapArrears): string {
  const renewal = period === "total" ? "" : " or begins its next period";
  return (
    `These instances and volumes are kept until ${timeText(deleteAt)} and are deleted then, unless the cap is removed ` +
    `before, or is raised${renewal} and then leaves enough for at least a day of them. Raise it, or save what you need.`
  );
}
