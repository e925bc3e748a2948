import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { StoredPreference } from "./rules/preferences.ts";

/** Stored preferences of these users, in the order of kinds. */
export async function listPreferences(
  db: Reader,
  userIds: readonly UserId[],
): Promise<readonly (StoredPreference & { readonly userId: UserId })[]> {
  const rows = await db
    .selectFrom("notice_preferences")
    .select(["user_id", "kind", "email", "webhooks"])
    .where("user_id", "=", sql<UserId>`any(${userIds}::integer[])`)
    .orderBy("user_id")
    .orderBy("kind")
    .execute();
  return rows.map(({ user_id: userId, ...preference }) => ({ userId, ...preference }));
}

/** Blocks other changes of the user's preferences and webhooks until the end of the transaction. */
export async function lockChannels(tx: Tx, userId: UserId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('notice_channels'), ${userId}::integer)`.execute(tx.db);
}

/** Replaces all stored preferences of the user. */
export async function replacePreferences(
  tx: Tx,
  userId: UserId,
  preferences: readonly StoredPreference[],
): Promise<void> {
  await tx.db.deleteFrom("notice_preferences").where("user_id", "=", userId).execute();
  await putPreferences(tx, userId, preferences);
}

/** Stores these preferences and keeps those of other kinds. */
export async function putPreferences(tx: Tx, userId: UserId, preferences: readonly StoredPreference[]): Promise<void> {
  if (preferences.length === 0) return;
  await tx.db
    .insertInto("notice_preferences")
    .values(preferences.map(({ kind, email, webhooks }) => ({ user_id: userId, kind, email, webhooks })))
    .onConflict((conflict) =>
      conflict.columns(["user_id", "kind"]).doUpdateSet((eb) => ({
        email: eb.ref("excluded.email"),
        webhooks: eb.ref("excluded.webhooks"),
      })),
    )
    .execute();
}
