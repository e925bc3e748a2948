import { sql } from "kysely";
import type { UserId, WebhookId } from "../../../base/ids.ts";
import { insertRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { PlannedDelivery, Unplanned } from "./rules/plan.ts";

/** The oldest notifications whose deliveries are not planned yet, locked; concurrent callers get different ones. */
export async function lockUnplanned(tx: Tx, limit: number): Promise<readonly Unplanned[]> {
  return tx.db
    .selectFrom("notices")
    .select(["id", "user_id as userId", "kind"])
    .where("planned_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Stores the planned deliveries of these notifications. The caller holds their locks. */
export async function storePlan(
  tx: Tx,
  notifications: readonly Unplanned[],
  deliveries: readonly PlannedDelivery[],
): Promise<void> {
  await tx.db
    .updateTable("notices")
    .set({ planned_at: tx.now })
    .where("id", "=", sql<bigint>`any(${notifications.map(({ id }) => id)}::bigint[])`)
    .execute();
  await insertRows(
    tx,
    "notice_deliveries",
    deliveries.map(({ notificationId, userId, webhookId }) => ({
      notice_id: notificationId,
      user_id: userId,
      channel: webhookId === undefined ? "email" : "webhook",
      webhook_id: webhookId ?? null,
      state: "due",
      attempt_count: 0,
      outcome: "",
      due_at: tx.now,
      created_at: tx.now,
    })),
  );
}

export type Channel = "email" | "webhook";

/** A delivery that this process is to try now. */
export type ClaimedDelivery = {
  readonly id: bigint;
  readonly userId: UserId;
  /** The webhook; undefined for an e-mail. */
  readonly webhookId: WebhookId | undefined;
  /** Counted from 1; it also identifies the claim. */
  readonly attempt: number;
  readonly createdAt: Date;
  readonly notification: {
    readonly id: bigint;
    readonly kind: string;
    readonly subject: string;
    readonly message: string;
    readonly createdAt: Date;
  };
};

export type ClaimLimits = {
  readonly channel: Channel;
  readonly total: number;
  readonly perUser: number;
  /** Users who have enough attempts under way. */
  readonly except: readonly UserId[];
  /** The claim goes through users by id, starting after this one. */
  readonly afterUserId: number;
  /** No other process tries these deliveries before this time. */
  readonly claimedUntil: Date;
};

/** Claims deliveries that are due, a limited number per user: a receiver that does not answer delays no other user. */
export async function claimDue(tx: Tx, limits: ClaimLimits): Promise<readonly ClaimedDelivery[]> {
  const { channel, total, perUser, except, afterUserId, claimedUntil } = limits;
  const { rows } = await sql<ClaimRow>`
    update notice_deliveries d set attempt_count = d.attempt_count + 1, due_at = ${claimedUntil}::timestamptz
    from (
      select due.id
      from (
        select distinct user_id from notice_deliveries
        where due_at <= ${tx.now}::timestamptz and channel = ${channel} and user_id <> all (${except}::integer[])
          and user_id > ${afterUserId}::integer
        order by user_id
        limit ${total}::integer
      ) who
      cross join lateral (
        select own.id from notice_deliveries own
        where own.user_id = who.user_id and own.due_at <= ${tx.now}::timestamptz and own.channel = ${channel}
        order by own.due_at, own.id limit ${perUser}::integer
        for update skip locked
      ) due
      limit ${total}::integer
    ) claimed, notices n
    where d.id = claimed.id and n.id = d.notice_id
    returning d.id, d.user_id, d.webhook_id, d.attempt_count, d.created_at,
      n.id as notice_id, n.kind, n.subject, n.message, n.created_at as noticed_at
  `.execute(tx.db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    webhookId: row.webhook_id ?? undefined,
    attempt: row.attempt_count,
    createdAt: row.created_at,
    notification: {
      id: row.notice_id,
      kind: row.kind,
      subject: row.subject,
      message: row.message,
      createdAt: row.noticed_at,
    },
  }));
}

type ClaimRow = {
  readonly id: bigint;
  readonly user_id: UserId;
  readonly webhook_id: WebhookId | null;
  readonly attempt_count: number;
  readonly created_at: Date;
  readonly notice_id: bigint;
  readonly kind: string;
  readonly subject: string;
  readonly message: string;
  readonly noticed_at: Date;
};

export type DeliveryResult = Pick<ClaimedDelivery, "id" | "attempt"> & {
  readonly outcome: string;
  /** The time of the next attempt; undefined when there is none. */
  readonly dueAt: Date | undefined;
  readonly isDelivered: boolean;
};

/**
 * Stores the outcome of an attempt. Returns false, and stores nothing, when another process has taken over the
 * delivery.
 */
export async function storeResult(tx: Tx, result: DeliveryResult): Promise<boolean> {
  const { id, attempt, outcome, dueAt, isDelivered } = result;
  const isOver = dueAt === undefined;
  const updated = await tx.db
    .updateTable("notice_deliveries")
    .set({
      state: isDelivered ? "delivered" : isOver ? "failed" : "due",
      outcome,
      due_at: dueAt ?? null,
      ended_at: isOver ? tx.now : null,
    })
    .where("id", "=", id)
    .where("attempt_count", "=", attempt)
    .where("state", "=", "due")
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Deliveries whose moment has come, and the moment of the oldest. */
export async function readDueDeliveries(
  db: Reader,
  now: Date,
): Promise<{ readonly dueCount: number; readonly oldestAt: Date | undefined }> {
  const { rows } = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::integer as count, min(due_at) as oldest from notice_deliveries
    where due_at is not null and due_at <= ${now}::timestamptz
  `.execute(db);
  return { dueCount: rows[0]?.count ?? 0, oldestAt: rows[0]?.oldest ?? undefined };
}
