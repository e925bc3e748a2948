import { sql } from "kysely";
import type { Reader, Tx } from "../../db/transaction.ts";

/** Time for hosts to come back after a restore, and for operators to hand over with them what it took from the database. */
export const RESTORE_FRESH_MS = 14 * 24 * 3_600_000;
/** The most that one message to an agent names. */
const KEPT_RESTORES_MAX = 64;

/** Ids from one after `after` up to `until`. */
export type SkippedIds = { readonly after: number; readonly until: number };

export type Restore = {
  /** The end of the backup; undefined where the operator restored an external database. */
  readonly backupAt: Date | undefined;
  /** Ids of instances that no row has, and none will have. */
  readonly instances: SkippedIds;
};

/**
 * Moves all sequences on by `count`, so that no new row gets the id of one that the restore of an earlier state took away.
 * Returns the last skipped id of instances.
 */
export async function skipIds(tx: Tx, count: number): Promise<number> {
  await sql`
    select setval(
      format('%I.%I', schemaname, sequencename)::regclass,
      least(coalesce(last_value, start_value) + ${count}::bigint, max_value)
    )
    from pg_sequences where schemaname = current_schema()
  `.execute(tx.db);
  const { rows } = await sql<{ last: number }>`
    select pg_sequence_last_value(pg_get_serial_sequence('instances', 'id')::regclass)::integer as last
  `.execute(tx.db);
  return rows[0]?.last ?? 0;
}

export async function storeRestore(tx: Tx, { backupAt, instances }: Restore): Promise<void> {
  await tx.db
    .insertInto("database_restores")
    .values({
      restored_at: tx.now,
      backup_at: backupAt ?? null,
      instance_id_after: instances.after,
      instance_id_until: instances.until,
    })
    .execute();
}

/** Ids that no instance of this database has, and whose containers hosts keep at this time. */
export async function listKeptInstances(db: Reader, now: Date): Promise<readonly SkippedIds[]> {
  return db
    .selectFrom("database_restores")
    .select(["instance_id_after as after", "instance_id_until as until"])
    .where("restored_at", ">", new Date(now.getTime() - RESTORE_FRESH_MS))
    .orderBy("id", "desc")
    .limit(KEPT_RESTORES_MAX)
    .execute();
}
