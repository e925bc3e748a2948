import { sql } from "kysely";
import type { PaymentCardId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { ProviderCard } from "../provider/provider.ts";

/** A saved card, which may be charged again. */
export type SavedCard = ProviderCard & {
  readonly id: PaymentCardId;
  readonly userId: UserId;
  readonly isDefault: boolean;
  readonly createdAt: Date;
};

const COLUMNS = [
  "id",
  "user_id",
  "method_id",
  "brand",
  "last4",
  "expiry_month",
  "expiry_year",
  "is_default",
  "created_at",
] as const;

export async function listCards(db: Reader, userId: UserId): Promise<readonly SavedCard[]> {
  const rows = await db
    .selectFrom("payment_cards")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(toCard);
}

/** The card that automatic payments charge. */
export async function findDefaultCard(db: Reader, userId: UserId): Promise<SavedCard | undefined> {
  const row = await db
    .selectFrom("payment_cards")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("is_default", "=", true)
    .executeTakeFirst();
  return row && toCard(row);
}

/** The last four digits of the card that automatic payments charge, of those of these users who have one. */
export async function listDefaultCards(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
  const rows = await db
    .selectFrom("payment_cards")
    .select(["user_id", "last4"])
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("is_default", "=", true)
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.last4]));
}

/** A card, removed or not; `isRemoved` is true when its user removed it or the provider has it no more. */
export async function findCard(
  db: Reader,
  id: PaymentCardId,
): Promise<(SavedCard & { readonly isRemoved: boolean }) | undefined> {
  const row = await db
    .selectFrom("payment_cards")
    .select([...COLUMNS, "removed_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { ...toCard(row), isRemoved: row.removed_at !== null };
}

/**
 * Stores a card of a user whose account is locked. A removed card stays removed, since an older event may report it.
 */
export async function upsertCard(tx: Tx, userId: UserId, card: ProviderCard): Promise<void> {
  await sql`
    insert into payment_cards (user_id, method_id, brand, last4, expiry_month, expiry_year, is_default, created_at)
    values (
      ${userId}::integer, ${card.methodId}::text, ${card.brand}::text, ${card.last4}::text,
      ${card.expiryMonth}::integer, ${card.expiryYear}::integer,
      not exists (select from payment_cards c where c.user_id = ${userId}::integer and c.is_default),
      ${tx.now}::timestamptz
    )
    on conflict (method_id) do update
    set brand = excluded.brand, last4 = excluded.last4, expiry_month = excluded.expiry_month,
      expiry_year = excluded.expiry_year
  `.execute(tx.db);
}

/** False when the user has no such card. */
export async function removeCard(tx: Tx, userId: UserId, id: PaymentCardId): Promise<boolean> {
  const result = await tx.db
    .updateTable("payment_cards")
    .set({ removed_at: tx.now, is_default: false })
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  await promoteNewest(tx, userId);
  return true;
}

/** The user of a card, removed or not. */
export async function findUserOfMethod(db: Reader, methodId: string): Promise<UserId | undefined> {
  const row = await db
    .selectFrom("payment_cards")
    .select("user_id")
    .where("method_id", "=", methodId)
    .executeTakeFirst();
  return row?.user_id;
}

/** Stores that a card is gone at the provider; its user's account is locked. */
export async function noteDetached(tx: Tx, methodId: string): Promise<void> {
  const row = await tx.db
    .updateTable("payment_cards")
    .set((eb) => ({ removed_at: eb.fn.coalesce("removed_at", eb.val(tx.now)), detached_at: tx.now, is_default: false }))
    .where("method_id", "=", methodId)
    .returning("user_id")
    .executeTakeFirst();
  if (row !== undefined) await promoteNewest(tx, row.user_id);
}

/** Removed cards that the provider still has. */
export async function listToDetach(
  db: Reader,
  limit: number,
): Promise<readonly { readonly userId: UserId; readonly methodId: string }[]> {
  const rows = await db
    .selectFrom("payment_cards")
    .select(["user_id", "method_id"])
    .where("removed_at", "is not", null)
    .where("detached_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ userId: row.user_id, methodId: row.method_id }));
}

/** False when the user has no such card. */
export async function setDefaultCard(tx: Tx, userId: UserId, id: PaymentCardId): Promise<boolean> {
  const card = await tx.db
    .selectFrom("payment_cards")
    .select("id")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (card === undefined) return false;
  await tx.db.updateTable("payment_cards").set({ is_default: false }).where("user_id", "=", userId).execute();
  await tx.db.updateTable("payment_cards").set({ is_default: true }).where("id", "=", id).execute();
  return true;
}

/** Makes the card that was saved last the default when the default card is gone. */
async function promoteNewest(tx: Tx, userId: UserId): Promise<void> {
  await sql`
    update payment_cards set is_default = true
    where id = (
        select max(id) from payment_cards where user_id = ${userId}::integer and removed_at is null
      )
      and not exists (select from payment_cards c where c.user_id = ${userId}::integer and c.is_default)
  `.execute(tx.db);
}

type CardRow = {
  readonly id: PaymentCardId;
  readonly user_id: UserId;
  readonly method_id: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiry_month: number;
  readonly expiry_year: number;
  readonly is_default: boolean;
  readonly created_at: Date;
};

function toCard(row: CardRow): SavedCard {
  return {
    id: row.id,
    userId: row.user_id,
    methodId: row.method_id,
    brand: row.brand,
    last4: row.last4,
    expiryMonth: row.expiry_month,
    expiryYear: row.expiry_year,
    isDefault: row.is_default,
    createdAt: row.created_at,
  };
}
