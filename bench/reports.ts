// The cost of workers' reports to one server, beside the bare framework that parses and answers the same body; the time
// from a report to a decision; and whether the database holds the reported values.
import { systemClock } from "../server/src/base/clock.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { startConstantServer, type ConstantServer } from "./support/constant-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import { startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { processorMs, processorMsWithChildren } from "./support/processes.ts";
import {
  addDisk,
  compareReported,
  failureBody,
  isLastStored,
  lastTexts,
  readyTexts,
  seedReportingWorkers,
  workingTexts,
  type ReportingEndpoint,
  type ReportingWorker,
} from "./support/reporting-workers.ts";
import { seedUsers } from "./support/seed.ts";

const DEFAULTS = {
  ...{ endpoints: 1_000, workers: 10_000, connections: 1_000, rounds: 3 },
  ...{ "interval-ms": 1_000, seconds: 20, probes: 50 },
};
type Options = typeof DEFAULTS;

const CPU_AIM_MICROS = 150;
const CREDIT_DOLLARS = 1_000_000;
const STORED_WITHIN_MS = 900_000;
const AGAIN_MS = 1_000;
const PROBE_WAIT_MS = 900_000;
const ANSWER = JSON.stringify({ success: true });

type Round = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  readonly databaseMicros: number;
};
type Written = { readonly rows: number; readonly commits: number };
type Figures = {
  readonly ready: Round;
  readonly working: readonly Round[];
  readonly bare: readonly Round[];
  readonly paced: Round & { readonly written: Written };
  readonly pacedBare: Round;
  readonly idleCpuShare: number;
  readonly probesMs: readonly number[];
};

type World = {
  readonly server: BenchServer;
  readonly load: LoadGenerator;
  readonly control: ConstantServer;
  readonly options: Options;
  readonly endpoints: readonly ReportingEndpoint[];
  readonly workers: readonly ReportingWorker[];
  /** Workers beside them, which fail one after the other before they were ready. */
  readonly failing: readonly ReportingWorker[];
  /** GB that each worker reported as written to its disk, in all. */
  readonly disks: number[];
};

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureReports(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found; `interfere` lets a test plant a mistake before it. */
export async function measureReports(
  options: Options,
  interfere: (disks: number[]) => void = () => {},
): Promise<readonly string[]> {
  const server = await startBenchServer();
  const load = startLoadGenerator();
  const control = await startConstantServer(ANSWER);
  try {
    console.log(describeEnvironment(server.dataDir));
    const [user] = await seedUsers(server.database, { count: 1, creditDollars: CREDIT_DOLLARS });
    if (user === undefined) throw new Error("there is no user");
    const count = options.workers + options.probes;
    const seeded = await seedReportingWorkers(server, user, { endpoints: options.endpoints, workers: count });
    const workers = seeded.workers.slice(0, options.workers);
    const failing = seeded.workers.slice(options.workers);
    const disks = workers.map(() => 0);
    const world = { server, load, control, options, endpoints: seeded.endpoints, workers, failing, disks };
    const figures = await measure(world);
    report(figures, options);
    interfere(disks);
    const problems = await audit(world);
    for (const problem of problems.slice(0, 10)) console.log(`AUDIT: ${problem}`);
    if (problems.length === 0)
      console.log("Audit: the database holds what each worker said last, and all that it wrote.");
    return problems;
  } finally {
    control.stop();
    load.stop();
    await server.stop();
  }
}

async function measure(world: World): Promise<Figures> {
  const { options, workers, endpoints, server, control } = world;
  const { rounds, seconds } = options;
  const perSecond = (workers.length * 1_000) / options["interval-ms"];
  const own = { name: "berth", port: server.port, pid: server.processId };
  const bare = { name: "bare", port: control.port, pid: control.pid };
  const ready = await ask(world, own, { requests: readyTexts(workers) });
  const texts = workingTexts(workers);
  const bareTexts = texts.map((text) => text.replace("/worker_status/", "/text"));
  const [working, bareRounds]: [Round[], Round[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const from = (round * workers.length) % texts.length;
    const measured = await ask(world, own, { requests: texts.slice(from, from + workers.length) });
    addDisk(world.disks, workers.length);
    if (round === 0) await routeOnce(server, endpoints);
    const beside = await ask(world, bare, { requests: bareTexts.slice(from, from + workers.length) });
    // The first round compiles the code; it is audited like the others.
    if (round === 0) continue;
    working.push(measured);
    bareRounds.push(beside);
  }
  const idleCpuShare = await idleShare(own.pid);
  const before = await writtenSoFar(server);
  const [paced, probesMs] = await Promise.all([
    ask(world, own, { requests: texts, perSecond, repeatMs: seconds * 1_000 }),
    probe(world),
  ]);
  addDisk(world.disks, Math.round(paced.count));
  const after = await writtenSoFar(server);
  const tookS = paced.elapsedMs / 1_000;
  const written = { rows: (after.rows - before.rows) / tookS, commits: (after.commits - before.commits) / tookS };
  const pacedBare = await ask(world, bare, { requests: bareTexts, perSecond, repeatMs: seconds * 1_000 });
  return { ready, working, bare: bareRounds, paced: { ...paced, written }, pacedBare, idleCpuShare, probesMs };
}

type Subject = { readonly name: string; readonly port: number; readonly pid: number };
type Asked = { readonly requests: readonly string[]; readonly perSecond?: number; readonly repeatMs?: number };

async function ask({ load, server, options }: World, { name, port, pid }: Subject, asked: Asked) {
  const { requests, perSecond, repeatMs } = asked;
  const [cpuBefore, databaseBefore] = [processorMs(pid), processorMsWithChildren(server.postgresProcessId)];
  const paced = perSecond === undefined ? {} : { perSecond };
  const { connections } = options;
  const result = await load.run({ port, connections, requests, repeatMs, ...paced, keepsAnswers: false });
  const wrong = [...result.statuses].filter(([status]) => status !== 200);
  if (wrong.length > 0) throw new Error(`${name} answered ${JSON.stringify(wrong)}`);
  const { count, elapsedMs, latenciesMs } = result;
  return {
    count,
    elapsedMs,
    perSecond: (count * 1_000) / elapsedMs,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    cpuMicros: ((processorMs(pid) - cpuBefore) * 1_000) / count,
    databaseMicros: ((processorMsWithChildren(server.postgresProcessId) - databaseBefore) * 1_000) / count,
  };
}

/** Sends one request to each endpoint, so that this server routes for all of them while their workers report. */
async function routeOnce(server: BenchServer, endpoints: readonly ReportingEndpoint[]): Promise<void> {
  const answers = endpoints.map(async ({ name, key }) => {
    const answer = await fetch(`${server.url}/route/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ endpoint: name, api_key: key, cost: 1 }),
    });
    if (!answer.ok) throw new Error(`a request was answered with ${answer.status}`);
    await answer.body?.cancel();
  });
  await Promise.all(answers);
}

const IDLE_MS = 5_000;

/** The share of one processor that the server needs while no worker reports. */
async function idleShare(pid: number): Promise<number> {
  const [beforeMs, startMs] = [processorMs(pid), performance.now()];
  await systemClock.sleep(IDLE_MS);
  return (processorMs(pid) - beforeMs) / (performance.now() - startMs);
}

async function writtenSoFar({ database }: BenchServer): Promise<Written> {
  const { rows } = await database.pool.query<Written>(
    `select (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables)::float8 as rows,
       xact_commit::float8 as commits from pg_stat_database where datname = current_database()`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL counts nothing");
  return row;
}

/** The time from the report of a failed worker to the committed order that follows, while all others report. */
async function probe({ server, failing, options }: World): Promise<readonly number[]> {
  const times: number[] = [];
  const pauseMs = (options.seconds * 500) / Math.max(1, failing.length);
  for (const worker of failing) {
    await systemClock.sleep(pauseMs);
    times.push(await react(server, worker));
  }
  return times;
}

async function react({ url, database }: BenchServer, worker: ReportingWorker): Promise<number> {
  const client = await database.pool.connect();
  await client.query("listen endpoints");
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const look = async () => {
    const atMs = performance.now();
    const { rows } = await client.query("select 1 from endpoint_workers where instance_id = $1", [worker.id]);
    if (rows.length === 0) resolve(atMs);
  };
  client.on("notification", ({ payload = "" }) => {
    if (payload.split(",").includes(String(worker.endpointId))) look().catch(reject);
  });
  const over = new AbortController();
  void systemClock.sleep(PROBE_WAIT_MS, over.signal).then(() => reject(new Error(`nobody decided on ${worker.id}`)));
  try {
    const beginMs = performance.now();
    const answer = await fetch(`${url}/worker_status/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(failureBody(worker)),
    });
    if (!answer.ok) throw new Error(`a failure was answered with ${answer.status}`);
    return (await promise) - beginMs;
  } finally {
    over.abort();
    client.removeAllListeners("notification");
    await client.query("unlisten endpoints");
    client.release();
  }
}

/** Compares the stored values with the sent ones, once the workers have repeated their last report until it is stored. */
async function audit(world: World): Promise<readonly string[]> {
  const { server, workers, disks } = world;
  const until = performance.now() + STORED_WITHIN_MS;
  const requests = lastTexts(workers);
  for (;;) {
    await ask(world, { name: "berth", port: server.port, pid: server.processId }, { requests });
    if ((await isLastStored(server.database, workers)) || performance.now() > until) break;
    await systemClock.sleep(AGAIN_MS);
  }
  return compareReported(server.database, workers, disks);
}

function report(figures: Figures, options: Options): void {
  const { ready, working, bare, paced, pacedBare, idleCpuShare, probesMs } = figures;
  const { workers, endpoints, rounds, seconds, connections } = options;
  console.log(`\n${rounded(workers)} workers of ${rounded(endpoints)} endpoints, one server process.\n`);
  console.log(`As fast as it goes, ${connections} connections, ${rounds} interleaved rounds: median (range).\n`);
  const head = ["", "reports/s", "p50 ms", "p99 ms", "server CPU µs", "database CPU µs"];
  const row = (name: string, all: readonly Round[]) => {
    const of = (pick: (round: Round) => number, digits: number) => medianAndRange(all.map(pick), digits);
    return [
      ...[name, of((one) => one.perSecond, 0), of((one) => one.p50Ms, 2), of((one) => one.p99Ms, 2)],
      ...[of((one) => one.cpuMicros, 1), name.includes("bare") ? "" : of((one) => one.databaseMicros, 1)],
    ];
  };
  console.log(table([head, row("ready for the first time", [ready]), row("at work", working), row("  bare", bare)]));
  const wanted = (workers * 1_000) / options["interval-ms"];
  console.log(`\n${rounded(wanted)} reports a second for ${seconds} s, each at its own moment:\n`);
  console.log(table([head, row("at work", [paced]), row("  bare", [pacedBare])]));
  const { rows, commits } = paced.written;
  console.log(`\nDatabase writes: ${rounded(rows)} rows in ${rounded(commits)} transactions a second.`);
  console.log(`Without reports the server needs ${(idleCpuShare * 100).toFixed(0)} % of a processor.`);
  const [p50, p99] = [rounded(quantile(probesMs, 0.5)), rounded(quantile(probesMs, 0.99))];
  console.log(`From a report of a failure to the order that follows from it: p50 ${p50} ms, p99 ${p99} ms.`);
  const cpu = median(working.map((one) => one.cpuMicros));
  console.log(`\nAim: ≤ ${CPU_AIM_MICROS} µs of CPU a report: ${cpu <= CPU_AIM_MICROS ? "met" : "MISSED"}.\n`);
}
