import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/**
 * The credit, in nano-dollars, at or below which each of these users wants their card charged; users without automatic
 * payments, or frozen, are left out.
 */
export async function listBalanceThresholds(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, Nanos>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("users")
    .select(["id", "balance_threshold_nanos"])
    .where("id", "in", userIds)
    .where("balance_threshold_enabled", "=", true)
    .where("deleted_at", "is", null)
    .where("freeze_id", "is", null)
    .execute();
  return new Map(rows.map((row) => [row.id, nanos(row.balance_threshold_nanos)]));
}

/**
 * The next users after this id who want their card charged, by id, with their thresholds in nano-dollars. Frozen
 * accounts are left out.
 */
export async function listAutobilled(
  db: Reader,
  { afterUserId, limit }: { readonly afterUserId: number; readonly limit: number },
): Promise<ReadonlyMap<UserId, Nanos>> {
  const { rows } = await sql<{ id: UserId; balance_threshold_nanos: bigint }>`
    select id, balance_threshold_nanos from users
    where balance_threshold_enabled and deleted_at is null and freeze_id is null and id > ${afterUserId}::integer
    order by id limit ${limit}::integer
  `.execute(db);
  return new Map(rows.map((row) => [row.id, nanos(row.balance_threshold_nanos)]));
}

/** Sets the given fields; absent ones stay. */
export async function setBalanceThreshold(
  tx: Tx,
  userId: UserId,
  { threshold, isEnabled }: { readonly threshold?: Nanos | undefined; readonly isEnabled?: boolean | undefined },
): Promise<void> {
  const changes = {
    ...(threshold === undefined ? {} : { balance_threshold_nanos: threshold }),
    ...(isEnabled === undefined ? {} : { balance_threshold_enabled: isEnabled }),
  };
  if (Object.keys(changes).length === 0) return;
  await tx.db.updateTable("users").set(changes).where("id", "=", userId).execute();
}
