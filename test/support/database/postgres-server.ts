import { rm } from "node:fs/promises";
import pg from "pg";
import { systemClock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import type { DatabaseConfig } from "../../../server/src/db/connect.ts";
import { startEmbeddedPostgres } from "../../../server/src/db/embedded/postgres.ts";
import { memoryDirectory } from "./memory-directory.ts";

/** The variable with the superuser's URL of a PostgreSQL for tests; `tools/test.ts` sets it for a whole run. */
export const TEST_POSTGRES_VARIABLE = "BERTH_TEST_POSTGRES";

/** The role that owns every database of a test: no superuser, as in production. */
export const OWNER = "berth";

export type TestServer = { readonly superuserUrl: string; stop(): Promise<void> };

/** The server that the environment names, or one of our own. */
export async function findOrStartTestPostgres(): Promise<TestServer> {
  const given = process.env[TEST_POSTGRES_VARIABLE];
  return given ? { superuserUrl: given, stop: async () => {} } : startTestPostgres();
}

/**
 * A PostgreSQL without fsync, in memory where there is enough of it: a database is cloned there twenty times faster than
 * on a disk, and every test has one of its own. `stop` removes it, and so does a later run after a crash.
 */
export async function startTestPostgres(): Promise<TestServer> {
  const dataDir = await memoryDirectory();
  const log = createLog("silent");
  const postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log, isDurable: false });
  await cheapenLogins(postgres.superuserUrl);
  return {
    superuserUrl: postgres.superuserUrl,
    async stop() {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Stores the passwords of both roles with one round of hashing instead of 4,096: each test logs in several times. */
async function cheapenLogins(superuserUrl: string): Promise<void> {
  const { password } = new URL(superuserUrl);
  await asSuperuser(superuserUrl, async (client) => {
    await client.query("set scram_iterations = 1");
    for (const role of [new URL(superuserUrl).username, OWNER]) {
      await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`);
    }
  });
}

/** Runs `work` on a connection of the superuser. */
export async function asSuperuser<T>(superuserUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The URL of a database on that server, for its owner. */
export function ownerUrl(superuserUrl: string, database: string): string {
  const url = new URL(superuserUrl);
  url.username = OWNER;
  url.pathname = `/${database}`;
  return url.href;
}

/** The owner's connection for `pg`. */
export function ownerConnection(
  superuserUrl: string,
  database: string,
): DatabaseConfig & { readonly database: string } {
  const url = new URL(superuserUrl);
  const host = url.searchParams.get("host") ?? url.hostname;
  return { host, port: Number(url.port || 5432), user: OWNER, password: url.password, database };
}
