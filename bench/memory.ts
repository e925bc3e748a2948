// The memory of a server for each connected host, offer and running instance, and the processor time for thousands of
// idle hosts; beside a server that holds as many bare WebSockets.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { readNumbers } from "./support/arguments.ts";
import {
  callApi,
  endProcess,
  NO_RATE_LIMITS,
  spawnServer,
  startBenchServer,
  type BenchServer,
} from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { rounded, table } from "./support/figures.ts";
import { offerSizes } from "../server/src/domains/supply/market/rules/allocation.ts";
import { MEASURABLE, perOne, readMemory, type MemoryUse } from "./support/memory-probe.ts";
import { memoryOf, processorMs, processorMsWithChildren } from "./support/processes.ts";
import { seedUsers } from "./support/seed.ts";
import { simulationToken, startSimulatedAgents } from "./support/simulated-agents.ts";

const BARE_LINKS = path.join(import.meta.dirname, "support/bare-links.ts");
const MEGABYTE = 1_000_000;
const LIMIT_BYTES = 10_000;
const CREDIT_DOLLARS = 100_000;
const RENTERS = 20;
const WARM_UP = 300;
const ORDERS_AT_ONCE = 32;
const LOOK_MS = 50;
const WAIT_MS = 900_000;

const DEFAULTS = { hosts: 10_000, gpus: 8, instances: 2_000, "idle-seconds": 60 };
type Options = typeof DEFAULTS;

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureMemory(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found. */
export async function measureMemory(options: Options): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-bench-memory-"));
  const measured = { BERTH_BENCH_MEMORY_FILE: path.join(folder, "memory"), BERTH_PROXY_PORTS: "off" };
  // The first server only lets the hosts in for the first time; it stays, with its database, and serves nobody.
  const first = await startBenchServer(measured, { nodeArguments: MEASURABLE });
  try {
    console.log(describeEnvironment(first.dataDir));
    const market = { first, folder, options, token: await simulationToken(first.database) };
    const empty = await readMemory(first.processId, measured.BERTH_BENCH_MEMORY_FILE);
    const newcomersMs = await letIn(market);
    const second = await measureSecond(market, empty);
    const bare = await measureBareLinks(folder, options.hosts);
    report({ ...second, bare, newcomersMs }, options);
    return second.problems;
  } finally {
    await first.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Market = {
  readonly first: BenchServer;
  readonly folder: string;
  readonly options: Options;
  readonly token: string;
};

/** Brings all hosts to the market and away again; returns how long they took to come. */
async function letIn({ first, folder, options, token }: Market): Promise<number> {
  const startMs = performance.now();
  const agents = startSimulatedAgents(first.url, { token, ...options, stateDir: folder });
  try {
    await waitFor("all hosts", async () => (await gauge(first, "berth_agents_connected")) === options.hosts);
    return performance.now() - startMs;
  } finally {
    await agents.stop();
    await waitFor("nobody", async () => (await gauge(first, "berth_agents_connected")) === 0);
  }
}

type Second = {
  readonly problems: readonly string[];
  readonly link: MemoryUse;
  readonly offer: MemoryUse;
  readonly instance: MemoryUse;
  readonly offerCount: number;
  readonly comebackMs: number;
  readonly idle: Idle;
  readonly agentBytes: number;
};

/** A fresh server finds the market in its database; then the hosts come back, and then they are rented. */
async function measureSecond(market: Market, empty: MemoryUse): Promise<Second> {
  const { first, folder, options, token } = market;
  const memoryFile = path.join(folder, "memory-second");
  const dataDir = path.join(folder, "second");
  await mkdir(dataDir);
  await copyFile(path.join(first.dataDir, "secret"), path.join(dataDir, "secret"));
  const { child, url } = await spawnServer({
    environment: {
      DATABASE_URL: first.connectionString,
      BERTH_DATA_DIR: dataDir,
      BERTH_NO_AGENT: "1",
      BERTH_PROXY_PORTS: "off",
      BERTH_RATE_LIMITS: NO_RATE_LIMITS,
      BERTH_BENCH_MEMORY_FILE: memoryFile,
    },
    nodeArguments: MEASURABLE,
  });
  const server = { url, adminKey: first.adminKey };
  const use = () => readMemory(child.pid ?? 0, memoryFile);
  try {
    const offerCount = await gauge(server, "berth_offers");
    const withOffers = await use();
    const startMs = performance.now();
    const agents = startSimulatedAgents(url, { token, ...options, stateDir: folder });
    try {
      await waitFor("all hosts", async () => (await gauge(server, "berth_agents_connected")) === options.hosts);
      const comebackMs = performance.now() - startMs;
      const processes = { server: child.pid ?? 0, agents: agents.processId, postgres: first.postgresProcessId };
      const idle = await measureIdle(processes, options["idle-seconds"] * 1000);
      const withLinks = await use();
      const problems = await audit(market, server);
      // The first rentals make the server compile code and reserve memory that all later ones share.
      await rentSome(market, url, WARM_UP);
      const withSome = await use();
      await rentSome(market, url, options.instances);
      const withInstances = await use();
      return {
        problems,
        offer: perOne(empty, withOffers, offerCount),
        link: perOne(withOffers, withLinks, options.hosts),
        instance: perOne(withSome, withInstances, options.instances),
        ...{ offerCount, comebackMs, idle },
        agentBytes: memoryOf(agents.processId).residentBytes / options.hosts,
      };
    } finally {
      await agents.stop();
    }
  } finally {
    await endProcess(child);
  }
}

type Idle = Readonly<Record<"server" | "agents" | "postgres", number>>;

/** The share of one core that each process takes while nothing happens. */
async function measureIdle(pids: Readonly<Record<keyof Idle, number>>, forMs: number): Promise<Idle> {
  const read = () => ({
    server: processorMs(pids.server),
    agents: processorMs(pids.agents),
    postgres: processorMsWithChildren(pids.postgres),
  });
  const before = read();
  const startMs = performance.now();
  await delay(forMs);
  const [after, elapsedMs] = [read(), performance.now() - startMs];
  const share = (name: keyof Idle) => (after[name] - before[name]) / Math.max(1, elapsedMs);
  return { server: share("server"), agents: share("agents"), postgres: share("postgres") };
}

/** Checks that all hosts are there with all their instances, and that the offers follow from them. */
async function audit({ first, options }: Market, server: Asked): Promise<readonly string[]> {
  const { rows } = await first.database.pool.query<{ min_chunk: number; is_connected: boolean; gpus: number }>(`
    select min_chunk, is_connected, (
      select count(*)::integer from devices where machine_id = machines.id and is_present and is_healthy
    ) as gpus from machines`);
  const expected = rows.reduce((sum, row) => sum + offerSizes(row.gpus, row.min_chunk).length, 0);
  const live = await first.database.pool.query<{ n: number }>(
    "select count(*)::integer as n from offers where retired_at is null",
  );
  const gpus = rows.reduce((sum, row) => sum + row.gpus, 0);
  const counts: readonly (readonly [string, number, number])[] = [
    ["machines", rows.length, options.hosts],
    ["machines that the database calls connected", rows.filter((row) => row.is_connected).length, options.hosts],
    ["connections", await gauge(server, "berth_agents_connected"), options.hosts],
    ["GPUs", gpus, options.hosts * options.gpus],
    ["offers in the database", live.rows[0]?.n ?? 0, expected],
    ["offers in memory", await gauge(server, "berth_offers"), expected],
  ];
  const problems = counts.flatMap(([what, found, wanted]) =>
    found === wanted ? [] : [`${rounded(found)} ${what} and not ${rounded(wanted)}`],
  );
  if (problems.length === 0) {
    console.log(
      `\nAudit passed: ${rounded(rows.length)} hosts with ${rounded(gpus)} GPUs are connected, their ` +
        `${rounded(expected)} offers are in the database and in memory.`,
    );
  } else console.log(`\nAudit FAILED:\n  ${problems.join("\n  ")}`);
  return problems;
}

/** Rents so many single GPUs and waits until all of them run. */
async function rentSome({ first }: Market, url: string, count: number): Promise<void> {
  const users = await seedUsers(first.database, { count: RENTERS, creditDollars: CREDIT_DOLLARS });
  const { rows } = await first.database.pool.query<{ id: number }>(
    `select distinct on (machine_id) id from offers where retired_at is null order by machine_id, device_count
     limit $1`,
    [count],
  );
  const waiting = rows.map(({ id }, index) => ({ id, secret: users[index % users.length]?.secret ?? "" }));
  const rentNext = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const body = { image: "ubuntu", disk: 10, runtype: "args" };
      await callApi({ url }, next.secret, { method: "PUT", path: `/api/v0/asks/${next.id}/`, body });
    }
  };
  await Promise.all(Array.from({ length: ORDERS_AT_ONCE }, rentNext));
  await waitFor("all instances to run", async () => {
    const others = await first.database.pool.query<{ n: number }>(
      "select count(*)::integer as n from instances where phase <> 'running'",
    );
    return others.rows[0]?.n === 0;
  });
}

async function measureBareLinks(folder: string, count: number): Promise<MemoryUse> {
  const memoryFile = path.join(folder, "memory-bare");
  const start = (nodeArguments: readonly string[], args: readonly string[]) =>
    spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...nodeArguments, BARE_LINKS, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, BERTH_BENCH_MEMORY_FILE: memoryFile },
    });
  const server = start(MEASURABLE, ["server"]);
  const port = await firstLine(server);
  const before = await readMemory(server.pid ?? 0, memoryFile);
  const clients = start([], ["clients", port, String(count)]);
  await firstLine(clients);
  const after = await readMemory(server.pid ?? 0, memoryFile);
  await Promise.all([endProcess(clients), endProcess(server)]);
  return perOne(before, after, count);
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("the output of the process is not read");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return line;
}

type Asked = Pick<BenchServer, "url" | "adminKey">;

async function gauge({ url, adminKey }: Asked, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await response.text())?.[1] ?? -1);
}

async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startMs > WAIT_MS) throw new Error(`waited in vain for ${what}`);
    await delay(LOOK_MS);
  }
}

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function report(
  {
    link,
    offer,
    instance,
    bare,
    offerCount,
    newcomersMs,
    comebackMs,
    idle,
    agentBytes,
  }: Second & {
    readonly bare: MemoryUse;
    readonly newcomersMs: number;
    readonly comebackMs: number;
  },
  { hosts, instances, "idle-seconds": idleSeconds }: Options,
): void {
  const row = (name: string, { heapBytes, residentBytes }: MemoryUse, limit = "") => [
    name,
    rounded(heapBytes),
    rounded(residentBytes),
    limit,
  ];
  const limit = rounded(LIMIT_BYTES);
  console.log(`\nBytes of the server for each, after forced collections: objects with buffers, and pages in memory.\n`);
  console.log(
    table([
      ["", "heap", "resident", "aim"],
      row(`idle agent link (of ${rounded(hosts)})`, link, limit),
      row("control: bare WebSocket", bare),
      row(`offer (of ${rounded(offerCount)}, with its share of machines and devices)`, offer),
      row(`running instance (of ${rounded(instances)})`, instance, limit),
    ]),
  );
  const rate = (ms: number) => `${rounded(ms / 1000, 1)} s (${rounded((hosts * 1000) / ms)} a second)`;
  const percent = (share: number) => `${rounded(share * 100, 1)} %`;
  console.log(
    `\nAll hosts were in after ${rate(newcomersMs)} when they were new, after ${rate(comebackMs)} when they came back.`,
  );
  console.log(
    `Idle for ${idleSeconds} s, of one core: server ${percent(idle.server)}, PostgreSQL ${percent(idle.postgres)}, ` +
      `the agent process ${percent(idle.agents)}, which has ${rounded(agentBytes / 1000)} kB for each host ` +
      `(${rounded((agentBytes * hosts) / MEGABYTE)} MB).`,
  );
}
