import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";

/** A notification type: `<context>:<slug>`. */
export type NotificationKind = `${"client" | "host"}:${string}`;

export type Notification = {
  readonly userId: UserId;
  readonly kind: NotificationKind;
  readonly subject: string;
  readonly message: string;
  /** Derived from the event: the same notification is posted once, on any number of attempts. */
  readonly key: string;
};

/** Channel that tells every process that there are notifications to deliver. */
export const NOTIFICATIONS_CHANNEL = "notices_posted";

/** Posts notifications in the transaction of their event; those that were posted before are left out. */
export async function postNotifications(tx: Tx, notifications: readonly Notification[]): Promise<void> {
  await post(tx, notifications, false);
}

/**
 * Posts notifications only for users who want their kind on some channel: others would merely be disturbed. One
 * statement for all of them.
 */
export async function postWantedNotifications(tx: Tx, notifications: readonly Notification[]): Promise<void> {
  await post(tx, notifications, true);
}

async function post(tx: Tx, notifications: readonly Notification[], isOnlyIfWanted: boolean): Promise<void> {
  if (notifications.length === 0) return;
  await sql`
    with posted as (
      insert into notices (user_id, kind, subject, message, key, created_at)
      select told.user_id, told.kind, told.subject, told.message, told.key, ${tx.now}::timestamptz
      from unnest(
        ${notifications.map(({ userId }) => userId)}::integer[], ${notifications.map(({ kind }) => kind)}::text[],
        ${notifications.map(({ subject }) => subject)}::text[], ${notifications.map(({ message }) => message)}::text[],
        ${notifications.map(({ key }) => key)}::text[]
      ) with ordinality as told (user_id, kind, subject, message, key, position)
      where not ${isOnlyIfWanted}::boolean or exists (
        select from notice_preferences p
        where p.user_id = told.user_id and p.kind = told.kind and (p.email or p.webhooks)
      )
      order by told.position
      on conflict (user_id, key) do nothing
      returning id
    )
    select pg_notify(${NOTIFICATIONS_CHANNEL}, '') from posted limit 1
  `.execute(tx.db);
}
