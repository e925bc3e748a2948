import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../../server/src/base/clock.ts";
import { createLog } from "../../server/src/base/log.ts";
import { connect, type Database } from "../../server/src/db/connect.ts";
import { startEmbeddedPostgres } from "../../server/src/db/embedded/postgres.ts";
import { unmountBelow } from "../../test/support/hosts/mounts.ts";
import { MEMORY_FLAGS } from "../../cli/src/commands/server/up.ts";
import { copyFreshData } from "../../test/support/database/fresh-data.ts";
import { aFactKeeper } from "../../test/support/database/facts.ts";

const MAIN = path.join(import.meta.dirname, "../../server/src/main.ts");
/** Options for Node such as `--cpu-prof --cpu-prof-dir=profiles`, which show where the server spends its time. */
const ARGUMENTS_FOR_NODE = process.env["BERTH_BENCH_NODE_ARGUMENTS"]?.split(" ") ?? [];
const UNLIMITED = { per_second: 1_000_000, burst: 1_000_000 };
/** Rate limits that no benchmark meets. Servers that share a database need the same. */
export const NO_RATE_LIMITS = JSON.stringify({ default: UNLIMITED, keys: UNLIMITED, money: UNLIMITED });
const POSTMASTER_PID = "postgres/cluster/postmaster.pid";

export type BenchServer = {
  readonly url: string;
  readonly port: number;
  readonly processId: number;
  readonly postgresProcessId: number;
  /** Connections of the benchmark's own, for seeding, controls and audits. */
  readonly database: Database;
  readonly dataDir: string;
  /** The connection string of its PostgreSQL, for a second server. */
  readonly connectionString: string;
  readonly adminKey: string;
  stop(): Promise<void>;
};

export type BenchServerOptions = {
  /** How many connections the benchmark itself may have; 8 unless given. */
  readonly connections?: number;
  readonly nodeArguments?: readonly string[];
};

/**
 * The real server in a process of its own over a durable embedded PostgreSQL in a temporary directory, without a host
 * and with limits that no benchmark meets. PostgreSQL belongs to the benchmark, which therefore can look into it.
 */
export async function startBenchServer(
  environment: Readonly<Record<string, string>> = {},
  { connections = 8, nodeArguments = ARGUMENTS_FOR_NODE }: BenchServerOptions = {},
): Promise<BenchServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "berth-bench-"));
  await chmod(dataDir, 0o711);
  await copyFreshData(dataDir);
  const log = createLog("silent");
  const postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log });
  const removeDatabase = async () => {
    await postgres.stop();
    await unmountBelow(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  const { child, url } = await spawnServer({
    environment: {
      DATABASE_URL: postgres.connectionString,
      BERTH_DATA_DIR: dataDir,
      BERTH_RATE_LIMITS: NO_RATE_LIMITS,
      BERTH_NO_AGENT: "1",
      ...environment,
    },
    nodeArguments,
  }).catch(async (error: unknown) => {
    await removeDatabase();
    throw error;
  });
  const database = connect({ connectionString: postgres.connectionString, max: connections }, log, aFactKeeper());
  return {
    url,
    port: Number(new URL(url).port),
    processId: child.pid ?? 0,
    postgresProcessId: await readPostmasterPid(dataDir),
    database,
    dataDir,
    connectionString: postgres.connectionString,
    adminKey: (await readFile(path.join(dataDir, "admin.key"), "utf8")).trim(),
    async stop() {
      await database.close();
      await endProcess(child);
      await removeDatabase();
    },
  };
}

/** The process that PostgreSQL's others are children of. */
async function readPostmasterPid(dataDir: string): Promise<number> {
  const [line = ""] = (await readFile(path.join(dataDir, POSTMASTER_PID), "utf8")).split("\n");
  return Number(line);
}

export type SpawnedServer = { readonly child: ChildProcess; readonly url: string; readonly startMs: number };

/** Starts `server/src/main.ts` on a free port and waits for its line `ready URL`. */
export async function spawnServer({
  environment,
  nodeArguments = [],
}: {
  readonly environment: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
}): Promise<SpawnedServer> {
  const beginMs = performance.now();
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ...MEMORY_FLAGS, ...nodeArguments, MAIN],
    {
      env: { ...inherited(["PATH", "HOME", "NODE_COMPILE_CACHE"]), BERTH_PORT: "0", ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const url = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const found = /^ready (\S+)$/m.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the server ended before it was ready: ${output}`)));
  });
  return { child, url, startMs: performance.now() - beginMs };
}

/** The environment of a server started by `./berth up`; no other variable may change the measurement. */
function inherited(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => [[name, process.env[name] ?? ""]]).filter(([, value]) => value !== ""),
  );
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** One call outside of what is measured; throws unless it succeeds. */
export async function callApi(
  server: Pick<BenchServer, "url">,
  secret: string,
  { method, path: target, body }: { readonly method: string; readonly path: string; readonly body?: unknown },
): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${target}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${target} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
