import { sql } from "kysely";
import type { Database } from "./connect.ts";

/** Reads every row of every table, and with it every page, whose checksums PostgreSQL compares. Returns their counts. */
export async function readAllTables({ kysely }: Database): Promise<{ tableCount: number; rowCount: bigint }> {
  const tables = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    order by c.oid
  `.execute(kysely);
  let rowCount = 0n;
  for (const { name } of tables.rows) {
    // The place of a row is in no index, so that the table itself is read.
    const { rows } = await sql<{ count: bigint }>`
      select count(t.ctid) as count from ${sql.raw(name)} t
    `.execute(kysely);
    rowCount += rows[0]?.count ?? 0n;
  }
  return { tableCount: tables.rows.length, rowCount };
}

/** True where another process, such as a server, is connected to the database. Asked on the first connection of a pool. */
export async function hasOtherConnections({ kysely }: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name like 'berth%' and pid <> pg_backend_pid()
    limit 1
  `.execute(kysely);
  return rows.length > 0;
}
