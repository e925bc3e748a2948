import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Change } from "./rules/frames.ts";

/** Gives a number to each change that has become visible since the last call, of this server or another one. */
export async function numberChanges(db: Reader): Promise<void> {
  await sql`select number_live_changes()`.execute(db);
}

export type ChangeClock = {
  /** The place behind the newest numbered change. */
  readonly last: bigint;
  /** The lowest place from which nothing is missing yet. */
  readonly floor: bigint;
};

export async function readChangeClock(db: Reader): Promise<ChangeClock> {
  const { rows } = await sql<ChangeClock>`
    select last_number as last, floor_number as floor from live_changes_clock
  `.execute(db);
  const [clock] = rows;
  if (clock === undefined) throw new Error("live_changes_clock has no row");
  return clock;
}

type ChangeRow = Omit<Change, "objectId"> & { readonly objectId: bigint };

const COLUMNS = sql`number, user_id as "userId", kind, object_id as "objectId", change, facts::text as facts`;

/** Changes of all accounts behind this place, at most `limit`. */
export async function listChangesAfter(db: Reader, place: bigint, limit: number): Promise<readonly Change[]> {
  const { rows } = await sql<ChangeRow>`
    select ${COLUMNS} from live_changes
    where number > ${place}::bigint
    order by number
    limit ${limit}::integer
  `.execute(db);
  return rows.map(toChange);
}

/** Changes of one account behind `after` and up to `until`, at most `limit`. */
export async function listChangesOf(
  db: Reader,
  userId: UserId,
  { after, until, limit }: { readonly after: bigint; readonly until: bigint; readonly limit: number },
): Promise<readonly Change[]> {
  const { rows } = await sql<ChangeRow>`
    select ${COLUMNS} from live_changes
    where user_id = ${userId}::integer and number > ${after}::bigint and number <= ${until}::bigint
    order by number
    limit ${limit}::integer
  `.execute(db);
  return rows.map(toChange);
}

function toChange({ objectId, ...row }: ChangeRow): Change {
  return { ...row, objectId: Number(objectId) };
}

/**
 * Deletes numbered changes that were written longer ago than `keptMs` by the database's clock, at most `limit`, and
 * raises the floor with them. Returns how many.
 */
export async function deleteOldChanges(tx: Tx, keptMs: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with old as (
      delete from live_changes where number in (
        select first.number
        from (
          select number, written_at from live_changes where number is not null order by number limit ${limit}::integer
        ) first
        where first.written_at < clock_timestamp() - ${keptMs}::double precision * interval '1 millisecond'
      )
      returning number
    ), raised as (
      update live_changes_clock
      set floor_number = greatest(floor_number, (select max(number) from old))
      where exists (select 1 from old)
    )
    select count(*)::integer as count from old
  `.execute(tx.db);
  return rows[0]?.count ?? 0;
}
