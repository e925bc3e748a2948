import { sql, type Selectable } from "kysely";
import { asId, type LedgerCapId, type UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { CapArrearsTable } from "../../../../db/tables.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { parseCapPeriod, type CapPeriod } from "../../ledger/for-limits.ts";
import { parseCapScope, type CapScope } from "../../ledger/index.ts";

/** A time in which a cap leaves nothing for storage within its scope. */
export type CapArrears = {
  readonly id: number;
  readonly userId: UserId;
  readonly capId: LedgerCapId;
  readonly scope: CapScope;
  readonly period: CapPeriod;
  readonly beganAt: Date;
  /** When the data within the scope is deleted. Stated at the beginning, and never moved. */
  readonly deleteAt: Date;
  readonly storageNanosPerHour: Nanos;
};

export type NewCapArrears = Omit<CapArrears, "id"> & { readonly dailySpendNanos: Nanos };

/** Inserts arrears of a cap; undefined when they are stated already. */
export async function insertCapArrears(tx: Tx, arrears: NewCapArrears): Promise<CapArrears | undefined> {
  const row = await tx.db
    .insertInto("cap_arrears")
    .values({
      user_id: arrears.userId,
      cap_id: arrears.capId,
      scope: arrears.scope,
      period: arrears.period,
      began_at: arrears.beganAt,
      delete_at: arrears.deleteAt,
      daily_spend_nanos: arrears.dailySpendNanos,
      storage_nanos_per_hour: arrears.storageNanosPerHour,
    })
    .onConflict((conflict) => conflict.column("cap_id").where("ended_at", "is", null).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && toCapArrears(row);
}

export async function listOpenCapArrears(db: Reader, userId: UserId): Promise<readonly CapArrears[]> {
  const rows = await db
    .selectFrom("cap_arrears")
    .selectAll()
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(toCapArrears);
}

/** The caps of all open arrears, in pages by the ids of the caps. */
export async function listOpenCapIds(db: Reader, afterId: number, limit: number): Promise<readonly LedgerCapId[]> {
  const { rows } = await sql<{ cap_id: LedgerCapId }>`
    select cap_id from cap_arrears
    where ended_at is null and cap_id > ${afterId}::integer
    order by cap_id
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => row.cap_id);
}

/** The caps among these that have open arrears. */
export async function listOpenAmong(db: Reader, capIds: readonly LedgerCapId[]): Promise<ReadonlySet<LedgerCapId>> {
  const { rows } = await sql<{ cap_id: LedgerCapId }>`
    select cap_id from cap_arrears where ended_at is null and cap_id = any(${[...capIds]}::integer[])
  `.execute(db);
  return new Set(rows.map((row) => row.cap_id));
}

/** The latest deletion time that arrears of any cap of this scope stated; only arrears that began after `since`. */
export async function findStated(
  db: Reader,
  { userId, scope, since }: Pick<CapArrears, "userId" | "scope"> & { readonly since: Date },
): Promise<Date | undefined> {
  const { rows } = await sql<{ latest: Date | null }>`
    select max(delete_at) as latest from cap_arrears
    where user_id = ${userId}::integer and scope = ${scope}::text and began_at > ${since}::timestamptz
  `.execute(db);
  return rows[0]?.latest ?? undefined;
}

/** Locks arrears of a cap that are open. Only the holder of the lock may end them, or delete data because of them. */
export async function lockOpenCapArrears(tx: Tx, capId: LedgerCapId): Promise<CapArrears | undefined> {
  const row = await tx.db
    .selectFrom("cap_arrears")
    .selectAll()
    .where("cap_id", "=", capId)
    .where("ended_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  return row && toCapArrears(row);
}

/** Ends arrears of a cap. The caller holds their lock. */
export async function endCapArrears(tx: Tx, id: number, outcome: "lifted" | "deleted"): Promise<void> {
  await tx.db.updateTable("cap_arrears").set({ ended_at: tx.now, outcome }).where("id", "=", id).execute();
}

function toCapArrears(row: Selectable<CapArrearsTable>): CapArrears {
  return {
    id: row.id,
    userId: row.user_id,
    capId: asId<LedgerCapId>(row.cap_id),
    scope: parseCapScope(row.scope),
    period: parseCapPeriod(row.period),
    beganAt: row.began_at,
    deleteAt: row.delete_at,
    storageNanosPerHour: nanos(row.storage_nanos_per_hour),
  };
}
