import { sql, type Selectable } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { ArrearsTable } from "../../../../db/tables.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Drop } from "./rules/drops.ts";

/** A time in which an account stores without paying. */
export type Arrears = {
  readonly id: number;
  readonly userId: UserId;
  readonly beganAt: Date;
  /** When everything is deleted unless it is paid. Stated at the beginning, and never moved. */
  readonly deleteAt: Date;
  readonly storageNanosPerHour: Nanos;
  readonly minBalance: Nanos;
};

export type NewArrears = Omit<Arrears, "id"> & { readonly dailySpendNanos: Nanos };

/** Inserts arrears; undefined when the account is in arrears already. */
export async function insertArrears(tx: Tx, arrears: NewArrears): Promise<Arrears | undefined> {
  const row = await tx.db
    .insertInto("arrears")
    .values({
      user_id: arrears.userId,
      began_at: arrears.beganAt,
      delete_at: arrears.deleteAt,
      daily_spend_nanos: arrears.dailySpendNanos,
      storage_nanos_per_hour: arrears.storageNanosPerHour,
      floor_nanos: arrears.minBalance,
    })
    .onConflict((conflict) => conflict.column("user_id").where("ended_at", "is", null).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && toArrears(row);
}

/** The deletion time of the account's last arrears; only arrears that began at `since` or later. */
export async function findEarlierDeleteAt(db: Reader, userId: UserId, since: Date): Promise<Date | undefined> {
  const row = await db
    .selectFrom("arrears")
    .select("delete_at")
    .where("user_id", "=", userId)
    .where("began_at", ">=", since)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.delete_at;
}

/** The operator's limit on what an account stores unpaid beyond the least time. */
export async function readArrearsLimit(db: Reader): Promise<bigint> {
  const row = await db.selectFrom("arrears_rules").select("limit_nanos").executeTakeFirstOrThrow();
  return row.limit_nanos;
}

export async function setArrearsLimit(tx: Tx, limitNanos: bigint): Promise<void> {
  await tx.db.updateTable("arrears_rules").set({ limit_nanos: limitNanos }).execute();
}

export async function findOpenArrears(db: Reader, userId: UserId): Promise<Arrears | undefined> {
  const row = await db
    .selectFrom("arrears")
    .selectAll()
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return row && toArrears(row);
}

/** The users among these that are in arrears. */
export async function listOpen(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom("arrears")
    .select("user_id")
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("ended_at", "is", null)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** All open arrears, in pages by user. */
export async function listOpenArrears(db: Reader, afterUserId: number, limit: number): Promise<readonly Arrears[]> {
  const rows = await db
    .selectFrom("arrears")
    .selectAll()
    .where("ended_at", "is", null)
    .where("user_id", ">", sql<UserId>`${afterUserId}::integer`)
    .orderBy("user_id")
    .limit(limit)
    .execute();
  return rows.map(toArrears);
}

/** Locks arrears that are open. Only the holder of the lock may end them, or delete data because of them. */
export async function lockOpenArrears(tx: Tx, userId: UserId): Promise<Arrears | undefined> {
  const row = await tx.db
    .selectFrom("arrears")
    .selectAll()
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  return row && toArrears(row);
}

/** Ends arrears. The caller holds their lock. */
export async function endArrears(
  tx: Tx,
  id: number,
  { outcome, writtenOff }: { readonly outcome: "paid" | "deleted"; readonly writtenOff: bigint },
): Promise<void> {
  await tx.db
    .updateTable("arrears")
    .set({ ended_at: tx.now, outcome, written_off_nanos: writtenOff })
    .where("id", "=", id)
    .execute();
}

/** The last warnings of these users about their credit; users who were never warned are left out. */
export async function listDrops(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Drop>> {
  const rows = await db
    .selectFrom("credit_drops")
    .selectAll()
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [row.user_id, { dropCount: row.drop_count, toldHours: row.told_hours ?? undefined }]),
  );
}

export async function saveDrops(tx: Tx, drops: readonly (Drop & { readonly userId: UserId })[]): Promise<void> {
  if (drops.length === 0) return;
  await sql`
    insert into credit_drops (user_id, drop_count, told_hours)
    select * from unnest(
      ${drops.map(({ userId }) => userId)}::integer[], ${drops.map(({ dropCount }) => dropCount)}::integer[],
      ${drops.map(({ toldHours }) => toldHours ?? null)}::integer[]
    ) as noted (user_id, drop_count, told_hours)
    order by noted.user_id
    on conflict (user_id) do update set drop_count = excluded.drop_count, told_hours = excluded.told_hours
  `.execute(tx.db);
}

function toArrears(row: Selectable<ArrearsTable>): Arrears {
  return {
    id: row.id,
    userId: row.user_id,
    beganAt: row.began_at,
    deleteAt: row.delete_at,
    storageNanosPerHour: nanos(row.storage_nanos_per_hour),
    minBalance: nanos(row.floor_nanos),
  };
}
