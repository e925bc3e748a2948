// Routed requests per second, beside the bare framework that answers a constant to the same request; then the router alone.
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../server/src/base/clock.ts";
import { asId, type InstanceId } from "../server/src/base/ids.ts";
import { EndpointRouter } from "../server/src/domains/serverless/routing/endpoint-router.ts";
import { RequestNumbers } from "../server/src/domains/serverless/routing/request-numbers.ts";
import { until } from "../test/support/until.ts";
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { startConstantServer, type ConstantServer } from "./support/constant-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { processorMs } from "./support/processes.ts";
import { seedInstances } from "./support/seed-instances.ts";
import { seedMachines, seedUsers, type BenchUser } from "./support/seed.ts";

const DEFAULTS = { workers: 1_000, requests: 20_000, rounds: 5, connections: 64, calls: 200_000 };
type Options = typeof DEFAULTS;

export const NAME = "bench";
/** The speed of a worker: no worker is ever full, and none is silent so long that it has to report. */
const PERF = 1e6;
const FRESH_FOR_MS = 3_600_000;
const SETTLED_LATER_MS = 6 * 3_600_000;
const GPUS_PER_HOST = 8;
const COSTS = [1, 5, 20, 100] as const;
/** The server stores what it counted each second; it may stand still for a while on a machine that others use, too. */
const STORED_WITHIN_MS = 900_000;

type Round = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number; readonly cpuMicros: number };
type Given = { readonly requestIdx: number; readonly reqnum: number; readonly url: string; readonly cost: number };

export async function run(args: readonly string[]): Promise<void> {
  const options = readNumbers(args, DEFAULTS);
  const problems = [...(await measureRoutes(options)), ...measureRouter(options)];
  for (const problem of problems) console.log(`AUDIT: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log("Audit: each request has a number and a worker of its own, and all loads add up.");
}

/** Measures routes over HTTP. Returns the findings of the audit; `interfere` lets a test plant a mistake before it. */
export async function measureRoutes(
  options: Options,
  interfere: (given: Given[]) => void = () => {},
): Promise<readonly string[]> {
  const server = await startBenchServer();
  const load = startLoadGenerator();
  let control: ConstantServer | undefined;
  try {
    console.log(describeEnvironment(server.dataDir));
    const [user] = await seedUsers(server.database, { count: 1, creditDollars: 100 });
    if (user === undefined) throw new Error("there is no user");
    const endpoint = await makeEndpoint(server, user, options.workers);
    const texts = COSTS.map((cost) => {
      const body = { endpoint: NAME, api_key: endpoint.key, cost, request_idx: 0, replay_timeout: 60 };
      return { body, text: requestText({ method: "POST", path: "/route/", body }) };
    });
    const sample = await callApi(server, user.secret, { method: "POST", path: "/route/", body: texts[0]?.body });
    if (sample["url"] === undefined) throw new Error(`no worker took the first request: ${JSON.stringify(sample)}`);
    control = await startConstantServer(JSON.stringify(sample));
    const bare = requestText({ method: "POST", path: "/text", body: texts[0]?.body });
    const given = [toGiven(sample)];
    const subjects = [
      { name: "route", port: server.port, pid: server.processId, texts: texts.map(({ text }) => text), given },
      { name: "  bare, constant text", port: control.port, pid: control.pid, texts: [bare], given: undefined },
    ];
    const rounds = await measure(load, subjects, options);
    report(subjects, rounds, options);
    interfere(given);
    return await audit(server, endpoint.id, given, options.workers);
  } finally {
    control?.stop();
    load.stop();
    await server.stop();
  }
}

/** An endpoint whose workers all run and are ready, after the autoscaler's first review of them. */
export async function makeEndpoint(server: BenchServer, user: BenchUser, workers: number) {
  const { pool } = server.database;
  const body = { endpoint_name: NAME, max_workers: workers, cold_workers: 0, min_load: 0, endpoint_state: "stopped" };
  const { result: id } = await callApi(server, user.secret, { method: "POST", path: "/api/v0/endptjobs/", body });
  const path = `/api/v0/endptjobs/${String(id)}/`;
  const { result } = await callApi(server, user.secret, { method: "GET", path });
  const startAt = systemClock.now();
  const hosts = Math.ceil(workers / GPUS_PER_HOST);
  const machineIds = await seedMachines(server.database, { hosts, gpusPerHost: GPUS_PER_HOST });
  const instances = await seedInstances(server.database, { machineIds, renterIds: [user.id], startAt });
  await pool.query("update instance_tabs set settle_at = $1", [new Date(startAt.getTime() + SETTLED_LATER_MS)]);
  await pool.query(
    `insert into endpoint_workers (instance_id, endpoint_group_id, machine_id, state, created_at, url, started_at,
       ready_at, ready_generation, reported_at, claimed_perf)
     select i.id, $2, i.machine_id, 'active', $3, 'http://192.0.2.1:' || (10000 + i.id), $3, $3, i.generation, $4, $5
     from instances as i where i.id = any($1::integer[])`,
    [instances.slice(0, workers).map((one) => one.id), id, startAt, new Date(startAt.getTime() + FRESH_FOR_MS), PERF],
  );
  await callApi(server, user.secret, { method: "PUT", path, body: { endpoint_state: "suspended" } });
  // The workers were there before the endpoint was suspended, so this decision has reviewed them.
  await until("the autoscaler's review of the suspended endpoint", async () => {
    const { rows } = await pool.query(
      "select from endpoint_events where endpoint_group_id = $1 and kind = 'decision' and detail ->> 'reason' = 'suspended'",
      [id],
    );
    return rows.length > 0;
  });
  return { id: Number(id), key: String((result as Readonly<Record<string, unknown>>)["api_key"]) };
}

type Subject = {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly texts: readonly string[];
  readonly given: Given[] | undefined;
};

/** Measures the rate over many connections and the latency over one; subjects in turn, so that a pause hits all. */
async function measure(load: LoadGenerator, subjects: readonly Subject[], options: Options) {
  const rounds = new Map<string, Round[]>();
  for (let round = -1; round < options.rounds; round += 1) {
    for (const connections of [options.connections, 1]) {
      for (const subject of subjects) {
        const count = connections === 1 ? Math.ceil(options.requests / 10) : options.requests;
        const measured = await ask(load, subject, connections, count);
        const key = keyOf(subject, connections);
        // The first round compiles the code; it is audited like the others.
        if (round >= 0) rounds.set(key, [...(rounds.get(key) ?? []), measured]);
      }
    }
  }
  return rounds;
}

const keyOf = ({ name }: Subject, connections: number) => `${name} ${connections}`;

async function ask(load: LoadGenerator, subject: Subject, connections: number, count: number): Promise<Round> {
  const { port, pid, texts, given } = subject;
  const requests = Array.from({ length: count }, (_, index) => texts[index % texts.length] ?? "");
  const cpuBefore = processorMs(pid);
  const result = await load.run({ port, connections, requests, repeatMs: undefined, keepsAnswers: true });
  const cpuMs = processorMs(pid) - cpuBefore;
  for (const answer of result.answers) {
    if (answer?.status !== 200) throw new Error(`${subject.name}: ${answer?.status} ${answer?.body}`);
    given?.push(toGiven(JSON.parse(answer.body)));
  }
  return {
    perSecond: (count * 1000) / result.elapsedMs,
    p50Ms: quantile(result.latenciesMs, 0.5),
    p99Ms: quantile(result.latenciesMs, 0.99),
    cpuMicros: (cpuMs * 1000) / count,
  };
}

function toGiven(body: Readonly<Record<string, unknown>>): Given {
  const { request_idx: requestIdx, reqnum, url, cost } = body;
  return { requestIdx: Number(requestIdx), reqnum: Number(reqnum), url: String(url ?? ""), cost: Number(cost) };
}

function report(subjects: readonly Subject[], rounds: ReadonlyMap<string, readonly Round[]>, options: Options): void {
  console.log(
    `\n${rounded(options.workers)} workers, one process; closed loop, ${options.rounds} interleaved rounds: median (range).\n`,
  );
  const rows = [options.connections, 1].flatMap((connections) =>
    subjects.map((subject) => {
      const all = rounds.get(keyOf(subject, connections)) ?? [];
      const of = (pick: (round: Round) => number, digits: number) => medianAndRange(all.map(pick), digits);
      const figures = [of((one) => one.perSecond, 0), of((one) => one.p50Ms, 2), of((one) => one.p99Ms, 2)];
      return [subject.name, String(connections), ...figures, of((one) => one.cpuMicros, 1)];
    }),
  );
  console.log(table([["", "connections", "requests/s", "p50 ms", "p99 ms", "server CPU µs"], ...rows]));
  const [routed, bare] = subjects.map((subject) => rounds.get(keyOf(subject, options.connections)) ?? []);
  const ratio = (pick: (round: Round) => number) => median((routed ?? []).map(pick)) / median((bare ?? []).map(pick));
  const [rate, cost] = [ratio((one) => one.perSecond).toFixed(2), ratio((one) => one.cpuMicros).toFixed(2)];
  console.log(`\nroute: ${rate} of the rate and ${cost} times the CPU of the bare framework\n`);
}

/** Checks that each request number was given once, to workers too, and that as many are stored as were answered. */
async function audit(server: BenchServer, endpoint: number, given: readonly Given[], workers: number) {
  const problems: string[] = [];
  const numbers = new Set(given.map((one) => one.requestIdx));
  if (numbers.size !== given.length) problems.push(`${given.length - numbers.size} numbers were given twice`);
  const byWorker = Map.groupBy(given, (one) => one.url);
  if (byWorker.size > workers || byWorker.has("")) problems.push("something was sent where no worker is");
  for (const [url, own] of byWorker) {
    const reqnums = new Set(own.map((one) => one.reqnum));
    if (reqnums.size !== own.length)
      problems.push(`${url} was told ${own.length} requests under ${reqnums.size} numbers`);
  }
  const expected = { count: given.length, load: given.reduce((sum, one) => sum + one.cost, 0) };
  const until = systemClock.monotonicMs() + STORED_WITHIN_MS;
  for (;;) {
    const { rows } = await server.database.pool.query<{ count: number; load: number }>(
      "select sum(request_count)::float8 as count, sum(load) as load from endpoint_load where endpoint_group_id = $1",
      [endpoint],
    );
    const [stored] = rows;
    if (stored?.count === expected.count && stored.load === expected.load) return problems;
    if (systemClock.monotonicMs() > until) {
      return [
        ...problems,
        `${stored?.count} requests of ${stored?.load} units are stored, ${expected.count} of ${expected.load} were routed`,
      ];
    }
    await delay(100);
  }
}

/** The router alone: each call gives one request away and finishes an earlier one. Returns what the audit found. */
export function measureRouter({ workers, calls }: Options): readonly string[] {
  const settings = { maxQueueTimeMs: 30_000, silentAfterMs: Infinity, targetUtil: 0.9 };
  const numbers = RequestNumbers.unlimited();
  const router = new EndpointRouter(settings, { numbers, onGiven: () => {} });
  const ids = Array.from({ length: workers }, (_, index) => asId<InstanceId>(index + 1));
  const flags = { isReady: true, isDraining: false, isOutdated: false };
  const asWorker = (id: InstanceId) => {
    const [perf, report] = [50 + (id % 100), { atMs: 0, load: 0, count: 0 }];
    return { id, url: `http://${id}`, perf, ...flags, report };
  };
  router.setWorkers(ids.map(asWorker), 0);
  const live = new Map<number, { readonly workerId: InstanceId; readonly cost: number }>();
  const times = new Float64Array(calls);
  const problems: string[] = [];
  for (let call = 0; call < calls; call += 1) {
    const cost = COSTS[call % COSTS.length] ?? 1;
    const startMs = performance.now();
    const answer = router.route({ requestIdx: 0, cost, replayTimeoutMs: 60_000 }, call);
    times[call] = (performance.now() - startMs) * 1000;
    if (answer.kind !== "given" || live.has(answer.assignment.requestIdx)) {
      problems.push(`call ${call} was answered ${answer.kind}`);
      continue;
    }
    const { requestIdx, workerId } = answer.assignment;
    live.set(requestIdx, { workerId, cost });
    const [oldest] = live;
    if (oldest === undefined || live.size <= workers * 4) continue;
    router.finish(oldest[1].workerId, [oldest[0]], call);
    live.delete(oldest[0]);
  }
  const given = Map.groupBy(live.values(), (one) => one.workerId);
  for (const id of ids) {
    const own = given.get(id) ?? [];
    const { load, requestCount } = router.loadOf(id);
    const expected = own.reduce((sum, one) => sum + one.cost, 0);
    if (load !== expected || requestCount !== own.length)
      problems.push(`worker ${id} has ${load} and was given ${expected}`);
  }
  const [p50, p99] = [quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1)];
  console.log(`The router alone, ${rounded(workers)} workers: p50 ${p50} µs, p99 ${p99} µs for a call.\n`);
  return problems;
}
