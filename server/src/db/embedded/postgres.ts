import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import type { Clock } from "../../base/clock.ts";
import { settleAccount } from "./account.ts";
import { defaultCacheDirectory, prepareBinaries } from "./binaries.ts";
import { ensureCluster, SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";
import { openLogFile, type EmbeddedLog, type LogFile } from "./log-file.ts";
import { spawnPostmaster, type Exit, type Postmaster } from "./postmaster.ts";
import { settingsArguments, SOCKET_PORT } from "./settings.ts";
import { makeSocketDirectory } from "./socket-directory.ts";
import { takeOver } from "./takeover.ts";

/** The role and the database of Berth have the same name. The role owns the database and is no superuser. */
const APPLICATION = "berth";
const START_LIMIT_MS = 300_000;
const STILL_STARTING_LOG_MS = 3_000;
const ATTEMPTS_MAX = 2;

export type Connection = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly ssl: false;
};

export type EmbeddedPostgres = {
  /** For `pg`: the application's own role on its own database. */
  readonly connection: Connection;
  /** The same as one URL, for other processes of the same machine. */
  readonly connectionString: string;
  /** For making databases in tests; the application never uses it. */
  readonly superuserUrl: string;
  /** Resolves when PostgreSQL has ended, asked to or not. */
  readonly exited: Promise<Exit>;
  /** Fast shutdown: running statements are cancelled, everything committed is on disk. Safe to call twice. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Created when missing. The caller holds its lock (`lockDataDir`), so whoever else runs on it is an orphan. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: EmbeddedLog;
  /** False for tests only: no fsync. */
  readonly isDurable?: boolean;
  readonly cacheDirectory?: string;
};

/**
 * Starts PostgreSQL below `dataDir/postgres`, creating the database on the first start, and returns when a login works.
 * It listens on a unix socket only, dies with this process (a `kill -9` included), and recovers by itself at the next
 * start. Throws EmbeddedPostgresError with one sentence for people. Call it from the main thread: the kernel ties the
 * child's life to the thread that made it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { clock, log, isDurable = true } = options;
  await mkdir(options.dataDir, { recursive: true, mode: 0o711 });
  const home = path.join(await realpath(options.dataDir), "postgres");
  const cache = options.cacheDirectory ?? defaultCacheDirectory(process.getuid?.() ?? 0, process.env);
  const binaries = await prepareBinaries([cache, path.join(path.dirname(home), "cache")]);
  const account = await settleAccount(home, binaries);
  const cluster = await ensureCluster(home, binaries, account, isDurable);

  for (let attempt = 1; ; attempt += 1) {
    await takeOver(cluster, { clock, log });
    const socket = await makeSocketDirectory(home, account);
    const logFile = await openLogFile(path.join(home, "postgres.log"), clock, log);
    const settings = settingsArguments({ socketDirectory: socket.path, isDurable });
    const command = [path.join(binaries, "bin", "postgres"), "-D", cluster, ...settings];
    const postmaster = spawnPostmaster(command, account, logFile.fd, clock);
    try {
      await waitUntilReady(socket.path, postmaster, logFile, { clock, log });
    } catch (error) {
      await postmaster.stop();
      await Promise.all([logFile.close(), socket.leave()]);
      // An orphan that was only just starting shows up in the cluster after the first look.
      if (attempt < ATTEMPTS_MAX && error instanceof EarlyExit) continue;
      throw error;
    }
    postmaster.unref();
    const connection = connectTo(socket.path, APPLICATION, APPLICATION);
    return {
      connection,
      connectionString: toUrl(connection),
      superuserUrl: toUrl(connectTo(socket.path, SUPERUSER, "postgres")),
      exited: postmaster.exited,
      async stop() {
        await postmaster.stop();
        await Promise.all([logFile.close(), socket.leave()]);
      },
    };
  }
}

class EarlyExit extends EmbeddedPostgresError {}

/** Polls with a real login, because a socket exists before the server answers and answers before it is recovered. */
async function waitUntilReady(
  socketDirectory: string,
  postmaster: Postmaster,
  logFile: LogFile,
  { clock, log }: { clock: Clock; log: EmbeddedLog },
): Promise<void> {
  const start = clock.monotonicMs();
  let isLogged = false;
  let exit: Exit | undefined;
  void postmaster.exited.then((value) => (exit = value));
  for (;;) {
    const problem = await tryLogin(connectTo(socketDirectory, APPLICATION, APPLICATION));
    if (problem === undefined) return;
    if (exit !== undefined) {
      const reason = exit.problem ?? (await logFile.tail());
      throw new EarlyExit(`PostgreSQL ended while starting: ${reason || `exit code ${exit.code ?? exit.signal}`}`);
    }
    const elapsed = clock.monotonicMs() - start;
    if (elapsed > START_LIMIT_MS) {
      throw new EmbeddedPostgresError(
        `PostgreSQL did not become ready in ${START_LIMIT_MS / 1000} s: ${problem.message}`,
      );
    }
    if (elapsed > STILL_STARTING_LOG_MS && !isLogged) {
      log.info("PostgreSQL is still starting; after a crash it first replays its journal");
      isLogged = true;
    }
    if (isMissingApplication(problem)) await createApplication(connectTo(socketDirectory, SUPERUSER, "postgres"));
    else if (!isNotReadyYet(problem)) throw problem;
    else await clock.sleep(elapsed < 1_000 ? 4 : 50);
  }
}

async function tryLogin(connection: Connection): Promise<Error | undefined> {
  const client = new pg.Client(connection);
  client.on("error", () => {}); // The failure of `connect` says the same.
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const NOT_READY_CODES = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03"];

function isNotReadyYet(error: Error): boolean {
  const code = errorCode(error);
  return (code !== undefined && NOT_READY_CODES.includes(code)) || error.message.includes("Connection terminated");
}

/** No such role, no such database: the cluster is new, or its first start was cut short. */
function isMissingApplication(error: Error): boolean {
  return ["28000", "28P01", "3D000"].includes(errorCode(error) ?? "");
}

async function createApplication(superuser: Connection): Promise<void> {
  const client = new pg.Client(superuser);
  await client.connect();
  try {
    const roles = await client.query("select 1 from pg_roles where rolname = $1", [APPLICATION]);
    if (roles.rowCount === 0) await client.query(`create role ${APPLICATION} login`);
    const databases = await client.query("select 1 from pg_database where datname = $1", [APPLICATION]);
    if (databases.rowCount === 0)
      await client.query(`create database ${APPLICATION} strategy file_copy owner ${APPLICATION}`);
  } finally {
    await client.end();
  }
}

function connectTo(socketDirectory: string, user: string, database: string): Connection {
  return { host: socketDirectory, port: SOCKET_PORT, user, database, ssl: false };
}

function toUrl({ host, port, user, database }: Connection): string {
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}&sslmode=disable`;
}
