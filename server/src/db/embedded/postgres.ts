import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import type { Clock } from "../../base/clock.ts";
import { settleAccount, type Account } from "./account.ts";
import { defaultCacheDirectory, prepareBinaries } from "./binaries.ts";
import { ensureCluster, SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";
import { openLogFile, type EmbeddedLog, type LogFile } from "./log-file.ts";
import { spawnPostmaster, type Exit, type Postmaster } from "./postmaster.ts";
import { settlePassword, writeLoginRules } from "./password.ts";
import { settingsArguments, SOCKET_PORT } from "./settings.ts";
import { makeSocketDirectory, type SocketDirectory } from "./socket-directory.ts";
import { takeOver } from "./takeover.ts";

/** The role and the database of Berth have the same name. The role owns the database and is no superuser. */
const APPLICATION = "berth";
const START_LIMIT_MS = 300_000;
const STILL_STARTING_LOG_MS = 3_000;
const ATTEMPTS_MAX = 2;
/** PostgreSQL that ends more often than this is broken: the process that needs it ends as well, and says so. */
const RESTARTS_MAX = 5;
const RESTARTS_WITHIN_MS = 600_000;
const RESTART_PAUSE_MS = 200;

export type Connection = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: false;
};

export type EmbeddedPostgres = {
  /** The connection for `pg`: the application's own role on its own database. */
  readonly connection: Connection;
  /** The connection as one URL, for other processes of the same machine. */
  readonly connectionString: string;
  /** The superuser's URL, with which tests make databases; the application never uses it. */
  readonly superuserUrl: string;
  /** Resolves when PostgreSQL has ended for good: by `stop`, by an operator's shutdown, or by failing too often. */
  readonly exited: Promise<Exit>;
  /** Fast shutdown: running statements are cancelled, everything committed is on disk. Safe to call twice. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** The data directory, created when missing. The caller holds its lock, so another process on it is an orphan. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: EmbeddedLog;
  /** False only in tests: PostgreSQL then runs without fsync. */
  readonly isDurable?: boolean;
  readonly cacheDirectory?: string;
};

/** The place of one cluster, and the options that it is started with. */
type Place = {
  readonly cluster: string;
  readonly account: Account;
  readonly socket: SocketDirectory;
  readonly password: string;
  readonly logFile: LogFile;
  readonly command: readonly string[];
};

/**
 * Starts PostgreSQL below `dataDir/postgres`, creating the database on the first start, and returns when a login works.
 * It listens on a unix socket only, lets nobody in without the password in `dataDir/postgres.password`, dies with this
 * process (a `kill -9` included), and recovers by itself at the next start. When it ends by itself it is started again, a
 * few times. Throws EmbeddedPostgresError with one sentence for people. Call it from the main thread: the kernel ties the
 * child's life to the thread that made it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = await preparePlace(options);
  const { socket, password } = place;
  const supervisor = new Supervisor(place, options);
  await supervisor.start();
  const as = (user: string, database: string) => connectTo(socket.path, { user, password, database });
  return {
    connection: as(APPLICATION, APPLICATION),
    connectionString: toUrl(as(APPLICATION, APPLICATION)),
    superuserUrl: toUrl(as(SUPERUSER, "postgres")),
    exited: supervisor.exited,
    stop: () => supervisor.stop(),
  };
}

async function preparePlace({ dataDir, clock, log, ...options }: EmbeddedPostgresOptions): Promise<Place> {
  const { isDurable = true } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const realDataDir = await realpath(dataDir);
  const home = path.join(realDataDir, "postgres");
  const cache = options.cacheDirectory ?? defaultCacheDirectory(process.getuid?.() ?? 0, process.env);
  const binaries = await prepareBinaries([cache, path.join(realDataDir, "cache")]);
  const account = await settleAccount(home, binaries);
  const cluster = await ensureCluster(home, binaries, account, isDurable);
  await takeOver(cluster, { clock, log });
  const password = await settlePassword(realDataDir, { cluster, binaries, account });
  const rulesFile = await writeLoginRules(home, account);
  const socket = await makeSocketDirectory(home, account);
  const logFile = await openLogFile(path.join(home, "postgres.log"), clock, log);
  const settings = settingsArguments({ socketDirectory: socket.path, rulesFile, isDurable });
  const command = [path.join(binaries, "bin", "postgres"), "-D", cluster, ...settings];
  return { cluster, account, socket, password, logFile, command };
}

/** Keeps one PostgreSQL running: starts it, starts it again when it ended by itself, and stops it. */
class Supervisor {
  readonly exited: Promise<Exit>;
  readonly #place: Place;
  readonly #means: { readonly clock: Clock; readonly log: EmbeddedLog };
  readonly #restartedAtMs: number[] = [];
  readonly #end: (exit: Exit) => void;
  #postmaster: Postmaster | undefined;
  /** All restarts until now, one after the other: PostgreSQL may end again before the last one is over. */
  #restarting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(place: Place, { clock, log }: { readonly clock: Clock; readonly log: EmbeddedLog }) {
    this.#place = place;
    this.#means = { clock, log };
    const { promise, resolve } = Promise.withResolvers<Exit>();
    this.exited = promise;
    this.#end = resolve;
  }

  /** Returns when a login works. A start that ends early is tried once more. */
  async start(): Promise<void> {
    const { cluster, account, socket, password, logFile, command } = this.#place;
    for (let attempt = 1; ; attempt += 1) {
      const postmaster = spawnPostmaster(command, account, logFile.fd, this.#means.clock);
      try {
        await waitUntilReady({ directory: socket.path, password }, postmaster, logFile, this.#means);
      } catch (error) {
        await postmaster.stop();
        // An orphan that was only just starting shows up in the cluster after the first look.
        if (attempt < ATTEMPTS_MAX && error instanceof EarlyExit) {
          await this.#clearUp(cluster);
          continue;
        }
        if (this.#postmaster === undefined) await this.#leave();
        throw error;
      }
      postmaster.unref();
      this.#postmaster = postmaster;
      void postmaster.exited.then((exit) => this.#noticeEnd(exit));
      return;
    }
  }

  async stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    await this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    await this.#restarting;
    await this.#postmaster?.stop();
    await this.#leave();
    this.#end({ code: 0, signal: null });
  }

  async #leave(): Promise<void> {
    await Promise.all([this.#place.logFile.close(), this.#place.socket.leave()]);
  }

  async #clearUp(cluster: string): Promise<void> {
    await takeOver(cluster, this.#means);
    await this.#place.socket.clear();
  }

  #noticeEnd(exit: Exit): void {
    if (this.#stopping !== undefined) return;
    // Somebody asked it to shut down, such as an operator: it does not come back against their will.
    if (exit.code === 0) return this.#end(exit);
    this.#restarting = this.#restarting.then(() => this.#restart(exit));
  }

  /** Starts PostgreSQL again; a start that fails counts as one more end. */
  async #restart(exit: Exit): Promise<void> {
    const { clock, log } = this.#means;
    log.warn(`PostgreSQL ended by itself (${exit.signal ?? `exit code ${exit.code}`}); starting it again`);
    while (this.#stopping === undefined && this.#mayRestart()) {
      try {
        await this.#clearUp(this.#place.cluster);
        await this.start();
        log.warn("PostgreSQL is back");
        return;
      } catch (error) {
        log.warn(`PostgreSQL could not be started again: ${error instanceof Error ? error.message : String(error)}`);
        await clock.sleep(RESTART_PAUSE_MS);
      }
    }
    this.#end(exit);
  }

  /** Counts one more restart, unless there were too many lately. */
  #mayRestart(): boolean {
    const nowMs = this.#means.clock.monotonicMs();
    const recent = this.#restartedAtMs.filter((atMs) => nowMs - atMs < RESTARTS_WITHIN_MS);
    if (recent.length >= RESTARTS_MAX) return false;
    this.#restartedAtMs.splice(0, Infinity, ...recent, nowMs);
    return true;
  }
}

class EarlyExit extends EmbeddedPostgresError {}

/** Polls with a real login, because a socket exists before the server answers and answers before it is recovered. */
async function waitUntilReady(
  { directory, password }: { readonly directory: string; readonly password: string },
  postmaster: Postmaster,
  logFile: LogFile,
  { clock, log }: { clock: Clock; log: EmbeddedLog },
): Promise<void> {
  const start = clock.monotonicMs();
  let isLogged = false;
  const application = connectTo(directory, { user: APPLICATION, password, database: APPLICATION });
  const superuser = connectTo(directory, { user: SUPERUSER, password, database: "postgres" });
  let exit: Exit | undefined;
  void postmaster.exited.then((value) => (exit = value));
  for (;;) {
    const problem = await tryLogin(application);
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
    if (isMissingApplication(problem)) await createApplication(superuser);
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

/** Error codes while PostgreSQL starts: of sockets, and of a server that cannot serve yet or ends during the login. */
const NOT_READY_CODES = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01", "57P02"];

function isNotReadyYet(error: Error): boolean {
  const code = errorCode(error);
  return (code !== undefined && NOT_READY_CODES.includes(code)) || error.message.includes("Connection terminated");
}

/** True when role, password or database is missing: the cluster is new or old, or its first start was cut short. */
function isMissingApplication(error: Error): boolean {
  return ["28000", "28P01", "3D000"].includes(errorCode(error) ?? "");
}

async function createApplication(superuser: Connection): Promise<void> {
  const client = new pg.Client(superuser);
  await client.connect();
  try {
    const roles = await client.query("select 1 from pg_roles where rolname = $1", [APPLICATION]);
    if (roles.rowCount === 0) await client.query(`create role ${APPLICATION} login`);
    await client.query(`alter role ${APPLICATION} password ${pg.escapeLiteral(superuser.password)}`);
    const databases = await client.query("select 1 from pg_database where datname = $1", [APPLICATION]);
    if (databases.rowCount === 0)
      await client.query(`create database ${APPLICATION} strategy file_copy owner ${APPLICATION}`);
  } finally {
    await client.end();
  }
}

function connectTo(
  host: string,
  login: { readonly user: string; readonly password: string; readonly database: string },
): Connection {
  return { host, port: SOCKET_PORT, ...login, ssl: false };
}

function toUrl({ host, port, user, password, database }: Connection): string {
  const place = `localhost:${port}/${database}?host=${encodeURIComponent(host)}&sslmode=disable`;
  return `postgresql://${user}:${password}@${place}`;
}
