import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { countUnread, listDeliveries, listNotifications, markRead } from "./store.ts";
import type { NotificationsQuery, ReadBody } from "../schema.ts";
import { viewNotification } from "../views.ts";

const LIMIT_DEFAULT = 25;

/** One page of a user's notifications, newest first, with the state of their deliveries. */
export async function showNotifications(db: Reader, userId: UserId, query: NotificationsQuery) {
  const { limit = LIMIT_DEFAULT, unread = false } = query;
  const beforeId = readToken(query.after_token);
  const found = await listNotifications(db, userId, { beforeId, limit: limit + 1, isUnreadOnly: unread });
  const page = found.slice(0, limit);
  const deliveries = Map.groupBy(
    await listDeliveries(
      db,
      page.map(({ id }) => id),
    ),
    ({ notificationId }) => notificationId,
  );
  const last = page.at(-1);
  return {
    success: true as const,
    notices: page.map((notification) => viewNotification(notification, deliveries.get(notification.id) ?? [])),
    unread_count: await countUnread(db, userId),
    next_token: found.length > limit && last !== undefined ? String(last.id) : null,
  };
}

/** Marks notifications of the user as read; other users' ids are ignored. */
export async function readNotifications(tx: Tx, userId: UserId, { ids, up_to_id: upToId }: ReadBody) {
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
