import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { PayoutMethod } from "./rules/payout-method.ts";

/** The destination of a host's money. Its details are encrypted. */
export type StoredPayoutMethod = {
  readonly method: PayoutMethod;
  readonly encryptedDetails: string;
  readonly shown: string;
  readonly updatedAt: Date;
};

export async function storePayoutMethod(
  tx: Tx,
  userId: UserId,
  { method, encryptedDetails, shown }: Omit<StoredPayoutMethod, "updatedAt">,
): Promise<void> {
  const values = { method, details_sealed: encryptedDetails, shown, updated_at: tx.now };
  await tx.db
    .insertInto("payout_methods")
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
    .execute();
}

export async function findPayoutMethod(db: Reader, userId: UserId): Promise<StoredPayoutMethod | undefined> {
  const row = await db
    .selectFrom("payout_methods")
    .select(["method", "details_sealed", "shown", "updated_at"])
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return (
    row && { method: row.method, encryptedDetails: row.details_sealed, shown: row.shown, updatedAt: row.updated_at }
  );
}

/** Those of these users who have a payout method. */
export async function listUsersPaidOut(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom("payout_methods")
    .select("user_id")
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}
