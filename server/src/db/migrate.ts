import pg from "pg";
import type { Clock } from "../base/clock.ts";
import type { DatabaseConfig } from "./connect.ts";
import {
  fileName,
  MigrationError,
  newestOf,
  readMigrations,
  schemaName,
  splitStatements,
  tooOld,
  type Migration,
} from "./migration-files.ts";
import { isLockTimeout } from "./sql-state.ts";

/** The number of the advisory lock for changes of the schema; no other code uses this number in the database. */
const LOCK_KEY = 6_205_873_411;
const LOCK_POLL_MS = 20;
/** A host that drops every packet answers nothing for minutes. */
const CONNECT_LIMIT_MS = 20_000;
/**
 * The longest that a migration waits for the lock of a table: requests that come after it wait behind it. Then it lets
 * them pass, and tries again.
 */
const TABLE_LOCK_LIMIT_MS = 500;
const TABLE_LOCK_PAUSE_MS = 1_500;
const TABLE_LOCK_TRIES = 150;

/** The newest migration of a database, and its oldest servers. */
export type SchemaState = {
  /** Migrations of this version that the database lacks, in order. */
  readonly pending: readonly Migration[];
  /** The newest migration of the database; 0 before the first. It may be one of a later version. */
  readonly newest: number;
};

type MigrationMeans = {
  readonly directory: string;
  readonly clock: Clock;
  /** Hears of the number of migrations before the first of them runs; not called when there is none. */
  readonly onPending?: (count: number) => void;
  /** Refuses a migration that takes away what running servers of an older schema use; it throws a MigrationError. */
  readonly requireServersFrom?: (schema: number, migration: Migration) => Promise<void>;
  /** How often a migration tries to get the lock of its tables. */
  readonly lockTries?: number;
};

/**
 * Brings the database to the newest schema and returns the files applied now, in order. Safe to run from several
 * processes at once: one works, the others wait and find nothing left. A migration that fails leaves nothing of itself.
 * A database of a later version is left as it is, as long as this version may still run with it.
 */
export async function migrate(connection: DatabaseConfig, means: MigrationMeans): Promise<readonly string[]> {
  const { directory, clock, onPending = () => {}, requireServersFrom = async () => {} } = means;
  const migrations = await readMigrations(directory);
  return withClient(connection, async (client) => {
    await acquireLock(client, clock);
    await prepareTable(client);
    const { pending } = compare(migrations, await readApplied(client));
    if (pending.length > 0) onPending(pending.length);
    for (const migration of pending) {
      if (migration.servesFrom > 0) await requireServersFrom(migration.servesFrom, migration);
      await apply(client, migration, means);
    }
    return pending.map(({ file }) => file);
  });
}

/** Compares the database with the migrations of this version, and changes nothing. Throws where they do not fit. */
export async function readSchemaState(connection: DatabaseConfig, directory: string): Promise<SchemaState> {
  const migrations = await readMigrations(directory);
  return withClient(connection, async (client) => {
    const { rows } = await client.query<{ has: boolean }>("select to_regclass('schema_migrations') is not null as has");
    return compare(migrations, rows[0]?.has === true ? await readApplied(client) : []);
  });
}

async function withClient<T>(connection: DatabaseConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...connection,
    application_name: "berth-migrate",
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end(); // Also gives the lock back.
  }
}

/** Asks again and again rather than waiting inside PostgreSQL: a waiting statement would block concurrent index builds. */
async function acquireLock(client: pg.Client, clock: Clock): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1::bigint) as got", [LOCK_KEY]);
    if (rows[0]?.got === true) return;
    await clock.sleep(LOCK_POLL_MS);
  }
}

/** The catalog is asked first: a statement that changes nothing would still wait for everybody who reads the table. */
async function prepareTable(client: pg.Client): Promise<void> {
  await client.query(`
    create table if not exists schema_migrations (
      number integer primary key,
      name text not null,
      sha256 text not null,
      applied_at timestamptz not null,
      serves_from integer not null default 0
    )`);
  const { rowCount } = await client.query(
    "select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'serves_from'",
  );
  if (rowCount === 0) {
    await client.query("alter table schema_migrations add column serves_from integer not null default 0");
  }
}

type Applied = {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
  readonly serves_from: number;
};

async function readApplied(client: pg.Client): Promise<readonly Applied[]> {
  // Databases of early versions have no column `serves_from`.
  const { rows } = await client.query<Applied>(`
    select number, name, sha256, coalesce((to_jsonb(applied) ->> 'serves_from')::integer, 0) as serves_from
    from schema_migrations applied order by number`);
  return rows;
}

function compare(migrations: readonly Migration[], applied: readonly Applied[]): SchemaState {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  const own = newestOf(migrations);
  for (const row of applied) {
    const known = byNumber.get(row.number);
    if (known === undefined) requireFit(row, own);
    else if (known.sha256 !== row.sha256) {
      throw new MigrationError(`${known.file} was changed after it was applied to this database; add a new migration`);
    }
  }
  const newest = applied.at(-1)?.number ?? 0;
  const done = new Set(applied.map(({ number }) => number));
  const pending = migrations.filter(({ number }) => !done.has(number));
  const late = pending.find(({ number }) => number < newest);
  if (late !== undefined) {
    throw new MigrationError(`${late.file} comes before ${newest}, which is already applied; give it a higher number`);
  }
  return { pending, newest };
}

/** Throws for a migration of another version that this one cannot run with. */
function requireFit({ number, name, serves_from: servesFrom }: Applied, own: number): void {
  const file = fileName(number, name);
  if (number < own) {
    throw new MigrationError(
      `the database has migration ${file}, which this Berth does not know: it is of another line`,
    );
  }
  if (own < servesFrom) throw new MigrationError(tooOld(own, { servesFrom, file }));
}

/** The sentence for a server that may not migrate and lacks migrations. */
export function tooNew({ pending, newest }: SchemaState): string {
  return (
    `this Berth is too new for its database, which has schema ${schemaName(newest)} and lacks ` +
    `${pending.length} migrations up to ${schemaName(newestOf(pending))}; run ./berth migrate and start again`
  );
}

async function apply(client: pg.Client, migration: Migration, means: MigrationMeans): Promise<void> {
  const { clock, lockTries = TABLE_LOCK_TRIES } = means;
  for (let tries = 1; ; tries += 1) {
    try {
      if (migration.isTransactional) await applyAtOnce(client, migration, clock.now());
      else await applyOneByOne(client, migration, clock.now());
      return;
    } catch (cause) {
      if (migration.isTransactional) await client.query("rollback");
      const isBlocked = migration.isTransactional && isLockTimeout(cause);
      if (!isBlocked || tries >= lockTries) {
        const reason = isBlocked ? await describeBlock(client, tries) : describe(cause, migration);
        throw new MigrationError(`${migration.file} failed: ${reason}`, { cause });
      }
    }
    await clock.sleep(TABLE_LOCK_PAUSE_MS);
  }
}

async function applyAtOnce(client: pg.Client, migration: Migration, now: Date): Promise<void> {
  await client.query("begin");
  await client.query(`set local lock_timeout = ${TABLE_LOCK_LIMIT_MS}`);
  await client.query(migration.sql);
  await record(client, migration, now);
  await client.query("commit");
}

/** Without a limit: a concurrent index build waits for the transactions before it, and nobody waits for it. */
async function applyOneByOne(client: pg.Client, migration: Migration, now: Date): Promise<void> {
  for (const statement of splitStatements(migration.sql)) await client.query(statement);
  await record(client, migration, now);
}

async function record(client: pg.Client, migration: Migration, now: Date): Promise<void> {
  const { number, name, sha256, servesFrom } = migration;
  await client.query(
    "insert into schema_migrations (number, name, sha256, applied_at, serves_from) values ($1, $2, $3, $4, $5)",
    [number, name, sha256, now, servesFrom],
  );
}

/** Names the transaction that was open longest, since it is the one that is likely to hold the lock. */
async function describeBlock(client: pg.Client, tries: number): Promise<string> {
  const { rows } = await client.query<{ pid: number; application: string; seconds: number }>(`
    select pid, application_name as application, extract(epoch from now() - xact_start)::integer as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1`);
  const [oldest] = rows;
  const named =
    oldest === undefined
      ? ""
      : `; process ${oldest.pid} (${oldest.application}) has had a transaction open for ${oldest.seconds} s`;
  return `a table was in use at each of ${tries} tries${named}`;
}

function describe(cause: unknown, { sql, isTransactional }: Migration): string {
  if (!(cause instanceof Error)) return String(cause);
  if (!(cause instanceof pg.DatabaseError) || cause.position === undefined || !isTransactional) return cause.message;
  const line = sql.slice(0, Number(cause.position)).split("\n").length;
  return `${cause.message} (line ${line})`;
}
