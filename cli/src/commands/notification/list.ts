import { noticeList, noticeRead, type NoticeListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Notification = NoticeListAnswer["notices"][number];
type Options = ConnectionOptions & {
  readonly json?: boolean;
  readonly unread?: boolean;
  readonly limit: number;
  readonly markRead?: boolean;
};

export async function listNotifications(options: Options): Promise<void> {
  const client = connect(options);
  const { unread = false, limit } = options;
  const answer = await noticeList(client, { query: { limit, unread } });
  const newest = answer.notices[0];
  if (options.markRead === true && newest !== undefined) await noticeRead(client, { body: { up_to_id: newest.id } });
  printAnswer(answer, options, render);
}

function render({ notices, unread_count: unreadCount, next_token: next }: NoticeListAnswer): string {
  if (notices.length === 0) return "There are no notifications to read.";
  const more = next === null ? [] : ["There is more: see --limit."];
  return [...notices.map(renderOne), [`${unreadCount} unread.`, ...more].join(" ")].join("\n\n");
}

function renderOne({ type, subject, message, created_at: at, read_at: readAt, deliveries }: Notification): string {
  const state = readAt === null ? " (new)" : "";
  const ways = deliveries.map(
    ({ channel, webhook_id: id, state: reached, outcome }) =>
      `  ${channel === "email" ? "e-mail" : `webhook ${id}`}: ${reached}${outcome === "" ? "" : `, ${outcome}`}`,
  );
  return [`${dateText(at)} UTC  ${clean(subject)}${state}  [${type}]`, clean(message), ...ways.map(clean)].join("\n");
}

/** Control characters would move the terminal's cursor or colours; lines may end. */
function clean(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, "\u{FFFD}");
}
