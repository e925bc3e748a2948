import { sql } from "kysely";
import type { UserId, WebhookId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

export type StoredNotification = {
  readonly id: bigint;
  readonly kind: string;
  readonly subject: string;
  readonly message: string;
  readonly createdAt: Date;
  readonly readAt: Date | undefined;
};

/** One delivery of a notification through one channel. */
export type StoredDelivery = {
  readonly notificationId: bigint;
  readonly channel: "email" | "webhook";
  readonly webhookId: WebhookId | undefined;
  readonly state: "due" | "delivered" | "failed";
  readonly attemptCount: number;
  readonly outcome: string;
  readonly dueAt: Date | undefined;
  readonly endedAt: Date | undefined;
};

type Page = { readonly beforeId: bigint | undefined; readonly limit: number; readonly isUnreadOnly: boolean };

/** A user's notifications, newest first. */
export async function listNotifications(
  db: Reader,
  userId: UserId,
  page: Page,
): Promise<readonly StoredNotification[]> {
  const { beforeId, limit, isUnreadOnly } = page;
  const rows = await db
    .selectFrom("notices")
    .select(["id", "kind", "subject", "message", "created_at", "read_at"])
    .where("user_id", "=", userId)
    .$if(beforeId !== undefined, (query) => query.where("id", "<", beforeId ?? 0n))
    .$if(isUnreadOnly, (query) => query.where("read_at", "is", null))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ created_at: createdAt, read_at: readAt, ...row }) => ({
    ...row,
    createdAt,
    readAt: readAt ?? undefined,
  }));
}

export async function countUnread(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("notices")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("read_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The deliveries of these notifications, in the order in which they were planned. */
export async function listDeliveries(
  db: Reader,
  notificationIds: readonly bigint[],
): Promise<readonly StoredDelivery[]> {
  if (notificationIds.length === 0) return [];
  const rows = await db
    .selectFrom("notice_deliveries")
    .select(["notice_id", "channel", "webhook_id", "state", "attempt_count", "outcome", "due_at", "ended_at"])
    .where("notice_id", "=", sql<bigint>`any(${notificationIds}::bigint[])`)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    notificationId: row.notice_id,
    channel: row.channel,
    webhookId: row.webhook_id ?? undefined,
    state: row.state,
    attemptCount: row.attempt_count,
    outcome: row.outcome,
    dueAt: row.due_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
  }));
}

/** A delivery to a webhook, with what it told. */
export type WebhookDelivery = Omit<StoredDelivery, "channel" | "webhookId"> & {
  readonly kind: string;
  readonly subject: string;
  readonly createdAt: Date;
};

/** The deliveries to a webhook of this user, newest first. */
export async function listWebhookDeliveries(
  db: Reader,
  { webhookId, userId, limit }: { readonly webhookId: WebhookId; readonly userId: UserId; readonly limit: number },
): Promise<readonly WebhookDelivery[]> {
  const rows = await db
    .selectFrom("notice_deliveries as d")
    .innerJoin("notices as n", "n.id", "d.notice_id")
    .select(["d.notice_id", "d.state", "d.attempt_count", "d.outcome", "d.due_at", "d.ended_at", "d.created_at"])
    .select(["n.kind", "n.subject"])
    .where("d.webhook_id", "=", webhookId)
    .where("d.user_id", "=", userId)
    .orderBy("d.id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    notificationId: row.notice_id,
    state: row.state,
    attemptCount: row.attempt_count,
    outcome: row.outcome,
    dueAt: row.due_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    createdAt: row.created_at,
    kind: row.kind,
    subject: row.subject,
  }));
}

/** Marks these, or all up to an id, as read; returns how many were unread. Other users' ids are ignored. */
export async function markRead(
  tx: Tx,
  userId: UserId,
  which: { readonly ids: readonly bigint[] } | { readonly upToId: bigint },
): Promise<number> {
  const result = await tx.db
    .updateTable("notices")
    .set({ read_at: tx.now })
    .where("user_id", "=", userId)
    .where("read_at", "is", null)
    .where(
      "ids" in which ? sql<boolean>`id = any(${which.ids}::bigint[])` : sql<boolean>`id <= ${which.upToId}::bigint`,
    )
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Deletes up to `limit` notifications from before this time without open deliveries; returns how many. */
export async function deleteOldNotifications(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from notices where id in (
      select n.id from notices n
      where n.created_at < ${before}::timestamptz and n.planned_at is not null
        and not exists (select from notice_deliveries d where d.notice_id = n.id and d.due_at is not null)
      order by n.created_at limit ${limit}::integer
    )
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}
