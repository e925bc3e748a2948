import { sql } from "kysely";
import type { AccountViewId, ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** A look of an administrator at the console as another account. */
export type StoredView = {
  readonly id: AccountViewId;
  readonly sessionId: ApiKeyId;
  readonly adminId: UserId;
  readonly userId: UserId;
  readonly reason: string;
  readonly ipAddress: string;
  readonly endsAt: Date;
};

/** Binds a session to another account. Throws where the session is bound already, by the unique index. */
export async function insertView(tx: Tx, view: Omit<StoredView, "id">): Promise<AccountViewId> {
  const row = await tx.db
    .insertInto("account_views")
    .values({
      session_id: view.sessionId,
      admin_id: view.adminId,
      user_id: view.userId,
      reason: view.reason,
      ip_address: view.ipAddress,
      began_at: tx.now,
      ends_at: view.endsAt,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Gives a session back to its administrator. Undefined when it is bound to no account. */
export async function leaveView(
  tx: Tx,
  sessionId: ApiKeyId,
): Promise<(StoredView & { readonly isOver: boolean }) | undefined> {
  const row = await tx.db
    .selectFrom("account_views")
    .select(COLUMNS)
    .select("ended_at")
    .where("session_id", "=", sessionId)
    .where("left_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await tx.db
    .updateTable("account_views")
    .set({ left_at: tx.now, ended_at: row.ended_at ?? tx.now })
    .where("id", "=", row.id)
    .execute();
  return { ...toView(row), isOver: row.ended_at !== null };
}

/** Ends up to `limit` views whose time or session is over, and returns them. */
export async function endViews(tx: Tx, limit: number): Promise<readonly StoredView[]> {
  const { rows } = await sql<Parameters<typeof toView>[0]>`
    update account_views v set ended_at = ${tx.now}::timestamptz
    where v.id in (
      select o.id from account_views o join api_keys k on k.id = o.session_id
      where o.ended_at is null and (
        o.ends_at <= ${tx.now}::timestamptz or k.deleted_at is not null or k.expires_at <= ${tx.now}::timestamptz
      )
      order by o.id limit ${limit}::integer for update of o skip locked
    )
    returning v.id, v.session_id, v.admin_id, v.user_id, v.reason, v.ip_address, v.ends_at
  `.execute(tx.db);
  return rows.map(toView);
}

const COLUMNS = ["id", "session_id", "admin_id", "user_id", "reason", "ip_address", "ends_at"] as const;

function toView(row: {
  readonly id: AccountViewId;
  readonly session_id: ApiKeyId;
  readonly admin_id: UserId;
  readonly user_id: UserId;
  readonly reason: string;
  readonly ip_address: string;
  readonly ends_at: Date;
}): StoredView {
  return {
    id: row.id,
    sessionId: row.session_id,
    adminId: row.admin_id,
    userId: row.user_id,
    reason: row.reason,
    ipAddress: row.ip_address,
    endsAt: row.ends_at,
  };
}
