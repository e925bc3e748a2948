import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { OPEN_HOST } from "./hosts/docker.ts";
import { copyFreshData } from "./database/fresh-data.ts";
import { memoryDirectory } from "./database/memory-directory.ts";
import { unmountBelow } from "./hosts/mounts.ts";
import { until } from "./until.ts";

/** The command that people run. */
const BERTH = path.join(import.meta.dirname, "../../berth");
const STOP_LIMIT_MS = 300_000;
const REQUEST_LIMIT_MS = 300_000;
const PIPE_BUFFER_MAX = 64 * 1024 * 1024;

/** Limits so high that no load of a test meets them. */
export const NO_LIMITS = {
  BERTH_RATE_LIMITS: JSON.stringify(
    Object.fromEntries(["default", "keys", "money"].map((name) => [name, { per_second: 1e6, burst: 1e6 }])),
  ),
};

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };
export type Ran = Ended & { readonly stdout: string; readonly stderr: string };

export type Answer = {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly text: string;
  // Tests assert the form of the body themselves; it is undefined when the answer is no JSON.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
};

export type Call = {
  /** The bearer key of the request. */
  readonly key?: string | undefined;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type StartOptions = {
  /** Options of `berth up`, beside port and data directory. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The data directory. When absent one is made in the temporary directory, with the server's tables in a whole run of
   * the tests.
   */
  readonly dataDir?: string;
  readonly port?: number;
  /** A PostgreSQL that several servers share; one of its own when absent. */
  readonly databaseUrl?: string;
  /** The `./berth` of another version; that of this checkout when absent. */
  readonly program?: string;
  /** The administrator's key, where the data directory holds no key of its own. */
  readonly adminKey?: string;
};

/** A running `berth up`: a process of its own with database and agents, as a person would start it. */
export type Berth = {
  readonly url: string;
  readonly dataDir: string;
  readonly adminKey: string;
  readonly pid: number;
  /** The server's output so far, on stdout and stderr. */
  output(): string;
  readonly ended: Promise<Ended>;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Runs `./berth …` against this server, as its administrator. */
  cli(...args: readonly string[]): Promise<Ran>;
  /** `./berth admin …`, which prints one JSON object. */
  admin(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  /** Process ids of its agent. */
  agentPids(): Promise<readonly number[]>;
  /** The process id of its PostgreSQL. */
  postgresPid(): Promise<number>;
  /** A query on its database, as its own role. */
  sql(text: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A connection of its own to its database; the caller ends it. */
  connect(): Promise<pg.Client>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Ended>;
  /** Sends `kill -9` to the server and waits for the end. PostgreSQL and the agent die with it. */
  kill(): Promise<Ended>;
};

/** A directory for data that PostgreSQL's own account may enter. */
export async function aDataDir(): Promise<string> {
  const directory = await mkdtemp(path.join(await realpath(tmpdir()), "berth-e2e-"));
  await chmod(directory, 0o711);
  return directory;
}

/** Options of servers that run no container of this machine, whose disks would count against the data's file system. */
const WITHOUT_CONTAINERS = ["--no-agent", "--simulate"];

/** A data directory with a migrated database, unless the server uses another one. */
async function aMigratedDataDir({ databaseUrl, args = [] }: StartOptions): Promise<string> {
  const isInMemory = WITHOUT_CONTAINERS.some((option) => args.includes(option));
  const directory = await (isInMemory ? memoryDirectory() : aDataDir());
  if (databaseUrl === undefined) await copyFreshData(directory);
  return directory;
}

export async function removeDataDir(directory: string): Promise<void> {
  await unmountBelow(directory);
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Ends a Berth, its agent included, and removes its data. Safe when it has ended already. */
export async function discard(berth: Pick<Berth, "stop" | "dataDir">): Promise<void> {
  await berth.stop();
  await removeDataDir(berth.dataDir);
}

/**
 * Waits until the search shows offers of this many machines: `berth up` is ready before slow hosts are on the market.
 */
export async function untilOffered({ call }: Pick<Berth, "call">, machineCount: number): Promise<void> {
  await until(`offers of ${machineCount} machines`, async () => {
    const { body } = await call("POST", "/api/v0/bundles/", { body: { limit: 1_000 } });
    const { offers } = body as { readonly offers: readonly { readonly machine_id: number }[] };
    const found = new Set(offers.map(({ machine_id }) => machine_id)).size;
    if (found < machineCount) throw new Error(`there are offers of ${found}`);
    return true;
  });
}

/** The environment of this process, without the variables that configure a Berth; the web console is not built. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("BERTH_") && name !== "DATABASE_URL");
  // The test runner's mark would make a Node child report to it instead of running.
  return {
    ...Object.fromEntries(own.filter(([name]) => name !== "NODE_TEST_CONTEXT")),
    ...OPEN_HOST,
    BERTH_CONSOLE: "0",
    ...extra,
  };
}

/** Runs `./berth` to its end. */
export async function runBerth(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return run(BERTH, args, cleanEnvironment(env));
}

/** Runs a program to its end and collects what it prints. */
export async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> {
  const child = spawn(program, [...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const ended = await endOf(child);
  return { ...ended, stdout: stdout(), stderr: stderr() };
}

/** Starts `./berth up` and waits until it says that it is ready. */
export async function startBerth(options: StartOptions = {}): Promise<Berth> {
  const dataDir = options.dataDir ?? (await aMigratedDataDir(options));
  const args = ["up", "--port", String(options.port ?? 0), "--data-dir", dataDir, ...(options.args ?? [])];
  const shared = options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl };
  const env = cleanEnvironment({ ...shared, ...options.env });
  const child = spawn(options.program ?? BERTH, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const output = () => `${stdout()}${stderr()}`;
  const ended = endOf(child);
  let isOver = false;
  void ended.then(() => (isOver = true));
  try {
    const url = await until("the line `ready http://…`", () => {
      const ready = /^ready (http:\/\/\S+)$/m.exec(stdout())?.[1];
      if (ready === undefined && isOver) return "";
      return ready;
    });
    if (url === "") throw new Error("berth up ended before it was ready");
    const adminKey = options.adminKey ?? (await readFile(path.join(dataDir, "admin.key"), "utf8")).trim();
    const { databaseUrl } = options;
    return describe({ url, dataDir, databaseUrl, adminKey, child, output, ended });
  } catch (error) {
    child.kill("SIGKILL");
    await ended;
    throw new Error(`berth up did not start:\n${output()}`, { cause: error });
  }
}

type Parts = Pick<Berth, "url" | "dataDir" | "adminKey" | "output" | "ended"> & {
  readonly databaseUrl: string | undefined;
  readonly child: ChildProcess;
};

function describe({ url, dataDir, databaseUrl, adminKey, child, output, ended }: Parts): Berth {
  const pid = child.pid;
  if (pid === undefined) throw new Error("a running process has an id");
  const cli = (...args: readonly string[]) => runBerth([...args, "--data-dir", dataDir]);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const limit = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    try {
      return await ended;
    } finally {
      clearTimeout(limit);
    }
  };
  return {
    url,
    dataDir,
    adminKey,
    pid,
    output,
    ended,
    call: (method, target, call) => sendRequest(`${url}${target}`, method, call),
    cli,
    async admin(...args) {
      const { code, stdout, stderr } = await cli("admin", ...args);
      if (code !== 0) throw new Error(`berth admin ${args.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    agentPids: () => childrenOf(pid, "agent/src/main.ts"),
    async postgresPid() {
      const [postmaster] = await childrenOf(pid, "postgres");
      if (postmaster === undefined) throw new Error("no PostgreSQL runs");
      return postmaster;
    },
    async sql(text, values = []) {
      const client = await connectTo(dataDir, databaseUrl);
      try {
        return (await client.query<Record<string, unknown>>(text, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    connect: () => connectTo(dataDir, databaseUrl),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

/** Sends one request; an answer in JSON is read. */
export async function sendRequest(
  url: string,
  method: string,
  { key, body, headers = {} }: Call = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const contentType = response.headers.get("content-type") ?? "";
  const isJson = contentType === "application/json";
  const retryAfter = response.headers.get("retry-after") ?? undefined;
  return { status: response.status, contentType, retryAfter, text, body: isJson ? JSON.parse(text) : undefined };
}

async function embeddedOf(dataDir: string): Promise<pg.ClientConfig> {
  // The directory of the socket may be a link to a place with a shorter name.
  const host = await realpath(path.join(dataDir, "postgres/run"));
  const password = (await readFile(path.join(dataDir, "postgres.password"), "utf8")).trim();
  return { host, port: 5432, user: "berth", password, database: "berth" };
}

async function connectTo(dataDir: string, databaseUrl: string | undefined): Promise<pg.Client> {
  const client = new pg.Client(
    databaseUrl === undefined ? await embeddedOf(dataDir) : { connectionString: databaseUrl },
  );
  // A server that is killed takes its connections along; a caller that waits for an answer learns it from its own query.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** The children of a process with this text in their command line. */
async function childrenOf(pid: number, name: string): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").filter(Boolean);
  const named = await Promise.all(
    children.map(async (child) => {
      const command = await readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "");
      return command.includes(name) ? [Number(child)] : [];
    }),
  );
  return named.flat();
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    if (text.length < PIPE_BUFFER_MAX) text += chunk.toString("utf8");
  });
  return () => text;
}

function endOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // The event `close`, and not `exit`: the last output may still be on its way at the exit.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}
