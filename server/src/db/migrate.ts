import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import type { Clock } from "../base/clock.ts";
import type { DatabaseConfig } from "./connect.ts";

/** The number of the advisory lock for changes of the schema; no other code uses this number in the database. */
const LOCK_KEY = 6_205_873_411;
const LOCK_POLL_MS = 20;
/** A host that drops every packet answers nothing for minutes. */
const CONNECT_LIMIT_MS = 20_000;

/** The schema cannot be brought up to date. The message names the migration and is meant for people. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly file: string;
  readonly sql: string;
  readonly sha256: string;
  /** Run statement by statement outside a transaction, as concurrent index builds demand. Must be safe to repeat. */
  readonly isTransactional: boolean;
};

/** Reads `NNNN_name.sql` files in the order of their numbers. Any other SQL file and any number used twice is refused. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).toSorted();
  const migrations: Migration[] = [];
  for (const file of files) {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (number === undefined || name === undefined) {
      throw new MigrationError(`${file} is not named like a migration (0001_what_it_does.sql)`);
    }
    if (migrations.at(-1)?.number === Number(number)) {
      throw new MigrationError(`${file} has the same number as ${migrations.at(-1)?.file}`);
    }
    const sql = await readFile(path.join(directory, file), "utf8");
    const sha256 = createHash("sha256").update(sql).digest("hex");
    const isTransactional = !/^-- no-transaction$/m.test(sql);
    migrations.push({ number: Number(number), name, file, sql, sha256, isTransactional });
  }
  return migrations;
}

/** One hash for a whole set of migrations: changes with any edit. */
export function hashMigrations(migrations: readonly Migration[]): string {
  const hash = createHash("sha256");
  for (const { number, name, sha256 } of migrations) hash.update(`${number} ${name} ${sha256}\n`);
  return hash.digest("hex");
}

type MigrationMeans = {
  readonly directory: string;
  readonly clock: Clock;
  /** Hears of the number of migrations before the first of them runs; not called when there is none. */
  readonly onPending?: (count: number) => void;
};

/**
 * Brings the database to the newest schema and returns the files applied now, in order. Safe to run from several
 * processes at once: one works, the others wait and find nothing left. A migration that fails leaves nothing of itself.
 */
export async function migrate(
  connection: DatabaseConfig,
  { directory, clock, onPending = () => {} }: MigrationMeans,
): Promise<readonly string[]> {
  const migrations = await readMigrations(directory);
  const client = new pg.Client({
    ...connection,
    application_name: "berth-migrate",
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  await client.connect();
  try {
    await acquireLock(client, clock);
    await client.query(`
      create table if not exists schema_migrations (
        number integer primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null
      )`);
    const pending = findPending(migrations, await readApplied(client));
    if (pending.length > 0) onPending(pending.length);
    for (const migration of pending) await apply(client, migration, clock.now());
    return pending.map(({ file }) => file);
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

type Applied = { readonly number: number; readonly name: string; readonly sha256: string };

async function readApplied(client: pg.Client): Promise<readonly Applied[]> {
  const { rows } = await client.query<Applied>("select number, name, sha256 from schema_migrations order by number");
  return rows;
}

function findPending(migrations: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, name, sha256 } of applied) {
    const known = byNumber.get(number);
    if (known === undefined) {
      throw new MigrationError(
        `the database is newer than this Berth: it has migration ${fileName(number, name)}, which is not here`,
      );
    }
    if (known.sha256 !== sha256) {
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
  return pending;
}

function fileName(number: number, name: string): string {
  return `${String(number).padStart(4, "0")}_${name}.sql`;
}

async function apply(client: pg.Client, migration: Migration, now: Date): Promise<void> {
  const { number, name, sha256, isTransactional } = migration;
  const record = async () => {
    const values = [number, name, sha256, now];
    await client.query(
      "insert into schema_migrations (number, name, sha256, applied_at) values ($1, $2, $3, $4)",
      values,
    );
  };
  try {
    if (isTransactional) {
      await client.query("begin");
      await client.query(migration.sql);
      await record();
      await client.query("commit");
    } else {
      for (const statement of splitStatements(migration.sql)) await client.query(statement);
      await record();
    }
  } catch (cause) {
    if (isTransactional) await client.query("rollback");
    throw new MigrationError(`${migration.file} failed: ${describe(cause, migration)}`, { cause });
  }
}

/** Files without a transaction hold plain statements, each ending with a semicolon at the end of a line. */
function splitStatements(sql: string): readonly string[] {
  const withoutComments = sql.replaceAll(/^\s*--.*$/gm, "");
  return withoutComments.split(/;[ \t]*$/m).filter((statement) => statement.trim() !== "");
}

function describe(cause: unknown, { sql, isTransactional }: Migration): string {
  if (!(cause instanceof Error)) return String(cause);
  if (!(cause instanceof pg.DatabaseError) || cause.position === undefined || !isTransactional) return cause.message;
  const line = sql.slice(0, Number(cause.position)).split("\n").length;
  return `${cause.message} (line ${line})`;
}
