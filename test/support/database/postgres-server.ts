import { access, chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { systemClock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import type { DatabaseConfig } from "../../../server/src/db/connect.ts";
import { startEmbeddedPostgres } from "../../../server/src/db/embedded/postgres.ts";

/** The variable with the superuser's URL of a PostgreSQL for tests; `tools/test.ts` sets it for a whole run. */
export const TEST_POSTGRES_VARIABLE = "BERTH_TEST_POSTGRES";

/** The role that owns every database of a test: no superuser, as in production. */
export const OWNER = "berth";

const DIRECTORY_PREFIX = "berth-test-postgres-";
/** In memory a database is cloned twenty times faster than on a disk, and every test has one of its own. */
const MEMORY_DIRECTORY = "/dev/shm";
const MEMORY_BYTES_MIN = 4e9;

export type TestServer = { readonly superuserUrl: string; stop(): Promise<void> };

/** The server that the environment names, or one of our own. */
export async function findOrStartTestPostgres(): Promise<TestServer> {
  const given = process.env[TEST_POSTGRES_VARIABLE];
  return given ? { superuserUrl: given, stop: async () => {} } : startTestPostgres();
}

/**
 * A PostgreSQL without fsync, in memory where there is enough of it, else in the temporary directory; `stop` removes it,
 * and so does a later run after a crash.
 */
export async function startTestPostgres(): Promise<TestServer> {
  const isInMemory = (await freeBytes(MEMORY_DIRECTORY)) >= MEMORY_BYTES_MIN;
  const place = isInMemory ? MEMORY_DIRECTORY : tmpdir();
  await removeAbandoned(place);
  const dataDir = await mkdtemp(path.join(place, `${DIRECTORY_PREFIX}${process.pid}-`));
  await chmod(dataDir, 0o711);
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

async function freeBytes(directory: string): Promise<number> {
  const found = await statfs(directory).catch(() => undefined);
  return found === undefined ? 0 : found.bavail * found.bsize;
}

async function removeAbandoned(place: string): Promise<void> {
  for (const entry of await readdir(place)) {
    if (!entry.startsWith(DIRECTORY_PREFIX)) continue;
    const pid = entry.slice(DIRECTORY_PREFIX.length).split("-")[0] ?? "";
    const isOwnerAlive = await access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!isOwnerAlive) await rm(path.join(place, entry), { recursive: true, force: true });
  }
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
