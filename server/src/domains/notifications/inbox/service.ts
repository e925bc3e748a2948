import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { countUnread, listDeliveries, listNotices, markRead } from "./store.ts";
import type { NoticesQuery, ReadBody } from "../schema.ts";
import { viewNotice } from "../views.ts";

const LIMIT_DEFAULT = 25;

/** One page of what a user was told, newest first, with what became of each on its way. */
export async function showNotices(db: Reader, userId: UserId, query: NoticesQuery) {
  const { limit = LIMIT_DEFAULT, unread = false } = query;
  const beforeId = readToken(query.after_token);
  const found = await listNotices(db, userId, { beforeId, limit: limit + 1, isUnreadOnly: unread });
  const page = found.slice(0, limit);
  const deliveries = Map.groupBy(
    await listDeliveries(
      db,
      page.map(({ id }) => id),
    ),
    ({ noticeId }) => noticeId,
  );
  const last = page.at(-1);
  return {
    success: true as const,
    notices: page.map((notice) => viewNotice(notice, deliveries.get(notice.id) ?? [])),
    unread_count: await countUnread(db, userId),
    next_token: found.length > limit && last !== undefined ? String(last.id) : null,
  };
}

/** Marks notices of the user as read; ids that are not the user's name nothing. */
export async function readNotices(tx: Tx, userId: UserId, { ids, up_to_id: upToId }: ReadBody) {
  if ((ids === undefined) === (upToId === undefined)) {
    throw invalid("ids", "Say either ids or up_to_id.", "missing_input");
  }
  const which = ids === undefined ? { upToId: BigInt(upToId ?? 0) } : { ids: ids.map(BigInt) };
  const marked = await markRead(tx, userId, which);
  return { success: true as const, marked, unread_count: await countUnread(tx.db, userId) };
}

function readToken(token: string | undefined): bigint | undefined {
  if (token === undefined || token === "") return undefined;
  if (!/^[1-9]\d{0,17}$/.test(token)) {
    throw invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
  }
  return BigInt(token);
}
