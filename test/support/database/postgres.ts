import { Socket } from "node:net";
import path from "node:path";
import { after } from "node:test";
import pg from "pg";
import { systemClock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { connect, type Database, type DatabaseConfig } from "../../../server/src/db/connect.ts";
import { migrate } from "../../../server/src/db/migrate.ts";
import { hashMigrations, readMigrations } from "../../../server/src/db/migration-files.ts";
import {
  asSuperuser,
  findOrStartTestPostgres,
  OWNER,
  ownerConnection,
  ownerUrl,
  type TestServer,
} from "./postgres-server.ts";
import { aFactKeeper } from "./facts.ts";

const TEMPLATE_LOCK_KEY = 6_205_873_412;
/**
 * Connections of a test's pool: enough for requests that meet each other. Each one costs PostgreSQL as much as twenty
 * requests, since it reads the catalogs of a new database.
 */
const POOL_MAX = 4;
const MIGRATIONS = path.join(import.meta.dirname, "../../../server/migrations");

export type TestDatabase = {
  /** The URL for another process, such as a server under test (DATABASE_URL). */
  readonly url: string;
  /** The connection for `pg.Client`, `pg.Pool` and `connect` of the server. */
  readonly connection: DatabaseConfig & { readonly database: string };
  /** The pool and the query builder of the server, with its parsers. */
  readonly database: Database;
  readonly pool: pg.Pool;
};

type Admin = { readonly client: pg.Client; readonly socket: Socket };
type Scope = { after(fn: () => Promise<void>): void };

let server: Promise<TestServer> | undefined;
let template: Promise<string> | undefined;
/** One connection that makes and drops the databases of this process, and the number of its statements under way. */
let admin: Promise<Admin> | undefined;
let statementCount = 0;
const openDatabases: (() => Promise<void>)[] = [];

// One hook, because databases must be dropped before the server goes.
after(async () => {
  for (const drop of openDatabases) await drop();
  const last = await admin;
  last?.socket.ref();
  await last?.client.end();
  if (server !== undefined) await (await server).stop();
});

/**
 * A migrated database of its own, with no rows but those of the migrations. It lives as long as the test whose context
 * is given, or as long as the test file.
 */
export async function testDatabase(scope?: Scope): Promise<TestDatabase> {
  const { superuserUrl } = await testServer();
  template ??= makeTemplate(superuserUrl, MIGRATIONS);
  return openDatabase(superuserUrl, await template, scope);
}

/** A database without tables, for tests of the code that makes tables. */
export async function emptyTestDatabase(scope?: Scope): Promise<TestDatabase> {
  return openDatabase((await testServer()).superuserUrl, "template1", scope);
}

async function openDatabase(superuserUrl: string, source: string, scope: Scope | undefined): Promise<TestDatabase> {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(superuserUrl, `create database ${name} template ${source} strategy file_copy owner ${OWNER}`);
  const url = ownerUrl(superuserUrl, name);
  const connection = ownerConnection(superuserUrl, name);
  const database = connect({ ...connection, max: POOL_MAX }, createLog("silent"), aFactKeeper());
  const drop = async () => {
    await database.close();
    await administer(superuserUrl, `drop database ${name} with (force)`);
  };
  if (scope === undefined) openDatabases.push(drop);
  else scope.after(drop);
  return { url, connection, database, pool: database.pool };
}

/** Between statements the connection keeps no process alive: outside of the test runner a program ends by itself. */
async function administer(superuserUrl: string, statement: string): Promise<void> {
  admin ??= connectAdmin(superuserUrl);
  const { client, socket } = await admin;
  statementCount += 1;
  socket.ref();
  try {
    await client.query(statement);
  } finally {
    statementCount -= 1;
    if (statementCount === 0) socket.unref();
  }
}

async function connectAdmin(superuserUrl: string): Promise<Admin> {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: superuserUrl, stream: () => socket });
  await client.connect();
  return { client, socket };
}

/** Made once per server and set of migrations, by the first process; it gets its name only when it is complete. */
async function makeTemplate(superuserUrl: string, directory: string): Promise<string> {
  const name = `template_${hashMigrations(await readMigrations(directory)).slice(0, 16)}`;
  const unfinished = `${name}_unfinished`;
  await asSuperuser(superuserUrl, async (client) => {
    await client.query("select pg_advisory_lock($1::bigint)", [TEMPLATE_LOCK_KEY]);
    const found = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (found.rowCount !== 0) return;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished} owner ${OWNER}`);
    await migrate(ownerConnection(superuserUrl, unfinished), { directory, clock: systemClock });
    await client.query(`alter database ${unfinished} rename to ${name}`);
  });
  return name;
}

function testServer(): Promise<TestServer> {
  server ??= findOrStartTestPostgres();
  return server;
}
