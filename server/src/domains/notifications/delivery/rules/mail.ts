import type { NotificationEvent } from "./event.ts";

export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Equal at every attempt, so that a mailbox can recognise a repetition. */
  readonly messageId: string;
};

const FOOTER = "\n\n-- \nYou can choose what you are told: ./berth notices --help\n";

/** The e-mail of a notification. */
export function mailOf(event: NotificationEvent, { to, from }: { readonly to: string; readonly from: string }): Mail {
  const { eventId, subject, message } = event;
  return mailTo({ to, subject, text: `${message}${FOOTER}`, eventId }, from);
}

/** An e-mail in plain text; no part of its subject can become a header. */
export function mailTo(
  { to, subject, text, eventId }: Pick<Mail, "to" | "subject" | "text"> & { readonly eventId: string },
  from: string,
): Mail {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
  return {
    to,
    subject: subject.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim(),
    text: text.replace(/\r\n?/g, "\n"),
    messageId: `<${eventId}@${domain}>`,
  };
}
