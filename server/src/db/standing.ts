import { sql } from "kysely";
import { fileName } from "./migration-files.ts";
import type { Reader } from "./transaction.ts";

/** How the database itself stands. */
export type DatabaseStanding = {
  /** The number of the newest migration; 0 before the first. */
  readonly newestMigration: number;
  /** The newest migration that older servers cannot run with, and the lowest schema that can; undefined for none. */
  readonly contract: { readonly file: string; readonly servesFrom: number } | undefined;
  /** True for a standby, which refuses every write. */
  readonly isStandby: boolean;
  readonly replicas: readonly Replica[];
};

/** A standby that follows this database; the lag is undefined where this role may not see it. */
export type Replica = { readonly name: string; readonly lagSeconds: number | undefined };

/**
 * PostgreSQL shows the lag of its standbys to members of `pg_monitor` only; the others see that there are some. A standby
 * that has replayed everything reports no lag.
 */
export async function readDatabaseStanding(db: Reader): Promise<DatabaseStanding> {
  const { rows } = await sql<{ newest: number; is_standby: boolean }>`
    select coalesce(max(number), 0)::integer as newest, pg_is_in_recovery() as is_standby from schema_migrations
  `.execute(db);
  const { rows: contracts } = await sql<{ number: number; name: string; serves_from: number }>`
    select number, name, serves_from from schema_migrations where serves_from > 0 order by serves_from desc limit 1
  `.execute(db);
  const [contract] = contracts;
  const { rows: replicas } = await sql<{ name: string; state: string | null; lag: number | null }>`
    select coalesce(nullif(application_name, ''), 'standby') as name, state,
      extract(epoch from replay_lag)::float8 as lag
    from pg_stat_replication
  `.execute(db);
  return {
    newestMigration: rows[0]?.newest ?? 0,
    contract: contract && { file: fileName(contract.number, contract.name), servesFrom: contract.serves_from },
    isStandby: rows[0]?.is_standby ?? false,
    replicas: replicas.map(({ name, state, lag }) => ({
      name,
      lagSeconds: state === "streaming" ? (lag ?? 0) : (lag ?? undefined),
    })),
  };
}

/** Bytes that the database takes on its disk. */
export async function readDatabaseBytes(db: Reader): Promise<number> {
  const { rows } = await sql<{ size: string }>`select pg_database_size(current_database())::text as size`.execute(db);
  return Number(rows[0]?.size ?? 0);
}
