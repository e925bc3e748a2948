import type { NoticeEvent } from "./event.ts";

export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same at every attempt, so that a mailbox can tell a repetition. */
  readonly messageId: string;
};

/** The e-mail that tells a notice: plain text, and nothing in its subject that could become a header of its own. */
export function mailOf(event: NoticeEvent, { to, from }: { readonly to: string; readonly from: string }): Mail {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
  return {
    to,
    subject: event.subject.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim(),
    text: `${event.message.replace(/\r\n?/g, "\n")}\n\n-- \nYou can choose what you are told: ./berth notices --help\n`,
    messageId: `<${event.eventId}@${domain}>`,
  };
}
