// How long it takes until thousands of displacements at once have settled: every winner has its devices, every loser moved once.
import { systemClock } from "../server/src/base/clock.ts";
import type { Database } from "../server/src/db/connect.ts";
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { startObedientHosts, type ObedientHosts } from "./support/obedient-hosts.ts";
import { processorMs, processorMsWithChildren } from "./support/processes.ts";
import { seedUsers, waitForOffers, type BenchUser } from "./support/seed.ts";

const DEFAULTS = { hosts: 625, "gpus-per-host": 8, users: 50, connections: 256, rounds: 3, "notice-seconds": 0 };
type Options = typeof DEFAULTS;

const AIM_MS = 3_000;
const CREDIT_DOLLARS = 100_000;
/** A bid above every host's minimum. */
const BID_DOLLARS_PER_GPU = 0.25;
const WAIT_MS = 900_000;
const POLL_MS = 10;

type Round = {
  readonly settleMs: number;
  readonly decidedMs: number;
  readonly p50Ms: number;
  readonly serverMs: number;
  readonly postgresMs: number;
  readonly controlMs: number;
};

type Market = {
  readonly server: BenchServer;
  readonly hosts: ObedientHosts;
  readonly load: LoadGenerator;
  readonly users: readonly BenchUser[];
  readonly options: Options;
};

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureOutbids(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found; `interfere` lets a test plant a mistake before the audit. */
export async function measureOutbids(
  options: Options,
  interfere: (server: BenchServer) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const server = await startBenchServer({
    BERTH_NOTICE_SECONDS: String(options["notice-seconds"]),
    BERTH_MIN_SLICE_SECONDS: "0",
  });
  const load = startLoadGenerator();
  let hosts: ObedientHosts | undefined;
  try {
    console.log(describeEnvironment(server.dataDir));
    const users = await seedUsers(server.database, { count: options.users, creditDollars: CREDIT_DOLLARS });
    hosts = await startObedientHosts(server, { count: options.hosts, gpus: options["gpus-per-host"] });
    await waitForOffers(server, options.hosts);
    const market = { server, hosts, load, users, options };
    await fillWithBids(market);
    const rounds: Round[] = [];
    const problems: string[] = [];
    for (let index = 0; index < options.rounds; index += 1) {
      const { round, winnerIds } = await displaceAll(market);
      rounds.push(round);
      if (index === options.rounds - 1) await interfere(server);
      problems.push(...(await audit(market, winnerIds)));
      if (index < options.rounds - 1) await letThemResume(market, winnerIds);
    }
    report(rounds, options);
    if (problems.length === 0)
      console.log("\nAudit passed: each bid moved once, each winner holds its GPUs, none is held twice.");
    else console.log(`\nAudit FAILED, the figures above are void:\n  ${problems.join("\n  ")}`);
    return problems;
  } finally {
    await hosts?.stop();
    load.stop();
    await server.stop();
  }
}

/** Rents every GPU alone, as a bid, and waits until all of them run. */
async function fillWithBids(market: Market): Promise<void> {
  const { options, hosts, server } = market;
  const total = options.hosts * options["gpus-per-host"];
  for (let gpu = 0; gpu < options["gpus-per-host"]; gpu += 1) {
    await rentAll(market, 1, BID_DOLLARS_PER_GPU);
  }
  await waitForPhases(server.database, "is_bid", "running", total);
  const { rows } = await server.database.pool.query("select count(distinct machine_id)::integer as n from instances");
  if (rows[0]?.n !== hosts.machineIds.length) throw new Error("not every machine is full");
}

/** Takes the offer of this size on every machine, in orders sent as fast as they are answered; their latencies. */
async function rentAll({ server, load, users, options }: Market, size: number, price?: number) {
  const { rows } = await server.database.pool.query<{ id: number }>(
    "select id from offers where retired_at is null and device_count = $1 order by machine_id",
    [size],
  );
  const body = { image: "busybox", disk: 8, ...(price === undefined ? {} : { price: price * size }) };
  const requests = rows.map(({ id }, index) =>
    requestText({
      method: "PUT",
      path: `/api/v0/asks/${id}/`,
      secret: users[index % users.length]?.secret ?? "",
      body,
    }),
  );
  if (requests.length !== options.hosts) throw new Error(`${requests.length} machines have an offer of ${size}`);
  const { connections } = options;
  const result = await load.run({ port: server.port, connections, requests, repeatMs: undefined, keepsAnswers: true });
  const refused = result.answers.find((answer) => answer?.status !== 200);
  if (refused !== undefined) throw new Error(`an order was answered ${refused.status}: ${refused.body}`);
  return result.latenciesMs;
}

/** Rents every machine whole on demand: each order displaces all bids there at once. */
async function displaceAll(market: Market): Promise<{ readonly round: Round; readonly winnerIds: readonly number[] }> {
  const { server, options } = market;
  const { database } = server;
  const cpuMs = () => [processorMs(server.processId), processorMsWithChildren(server.postgresProcessId)] as const;
  const before = cpuMs();
  const startMs = performance.now();
  const latenciesMs = await rentAll(market, options["gpus-per-host"]);
  const decidedMs = performance.now() - startMs;
  await waitForPhases(database, "not is_bid", "starting,running", options.hosts);
  const settleMs = performance.now() - startMs;
  await waitForPhases(database, "not is_bid", "running", options.hosts);
  const after = cpuMs();
  const { rows } = await database.pool.query<{ id: number }>(
    "select id from instances where not is_bid and ended_at is null",
  );
  const round: Round = {
    settleMs,
    decidedMs,
    p50Ms: quantile(latenciesMs, 0.5),
    serverMs: after[0] - before[0],
    postgresMs: after[1] - before[1],
    controlMs: await moveByOneStatement(database),
  };
  return { round, winnerIds: rows.map(({ id }) => id) };
}

async function waitForPhases({ pool }: Database, among: string, phases: string, count: number): Promise<void> {
  const untilMs = performance.now() + WAIT_MS;
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::integer as n from instances where ${among} and phase = any($1)`,
      [phases.split(",")],
    );
    if (rows[0]?.n === count) return;
    if (performance.now() > untilMs) throw new Error(`${rows[0]?.n} of ${count} are ${phases}`);
    await systemClock.sleep(POLL_MS);
  }
}

/** The control: rows like those that were moved, moved by one statement that decides nothing and tells nobody. */
async function moveByOneStatement({ pool }: Database): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const startMs = performance.now();
    await client.query(`
      with moved as (
        update instances set phase = 'stopping', phase_since_at = now() where is_bid and phase = 'scheduled' returning id
      ), vacated as (
        update leases set released_at = greatest(now(), granted_at) where released_at is null returning device_id
      ), noted as (
        insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
        select id, now(), 'bench', 'control', 'running', 'stopping', 1 from moved returning id
      )
      select (select count(*) from moved), (select count(*) from vacated), (select count(*) from noted)`);
    return performance.now() - startMs;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** The winners go, and the bids come back by themselves. */
async function letThemResume({ server, options, users }: Market, winnerIds: readonly number[]): Promise<void> {
  const owners = new Map(users.map((user) => [Number(user.id), user.secret]));
  const { rows } = await server.database.pool.query<{ id: number; user_id: number }>(
    "select id, user_id from instances where id = any($1)",
    [winnerIds],
  );
  for (const { id, user_id: userId } of rows) {
    await callApi(server, owners.get(userId) ?? "", { method: "DELETE", path: `/api/v0/instances/${id}/` });
  }
  await waitForPhases(server.database, "is_bid", "running", options.hosts * options["gpus-per-host"]);
}

async function audit({ server, options }: Market, winnerIds: readonly number[]): Promise<readonly string[]> {
  const { pool } = server.database;
  const total = options.hosts * options["gpus-per-host"];
  const problems: string[] = [];
  const expect = (name: string, found: unknown, expected: number) => {
    if (Number(found) !== expected) problems.push(`${name}: ${String(found)} instead of ${expected}`);
  };
  const { rows: leases } = await pool.query(
    `select (select count(*) from (select from leases where released_at is null group by device_id having count(*) > 1) x)
         as double,
       (select count(*) from leases where released_at is null and instance_id = any($1)) as won,
       (select count(*) from (
         select granted_at, lag(coalesce(released_at, 'infinity')) over (partition by device_id order by granted_at, id) as u
         from leases) spans where u > granted_at) as overlaps`,
    [winnerIds],
  );
  expect("devices with two live leases", leases[0]?.double, 0);
  expect("devices that the winners hold", leases[0]?.won, total);
  expect("leases that began before the one before had ended", leases[0]?.overlaps, 0);
  // Since it last came to run: one notice or stop for the on-demand rental, and no other.
  const { rows: moves } = await pool.query(`
    select count(*) filter (where n = 1) as once, count(*) filter (where n <> 1) as otherwise from (
      select i.id, (select count(*) from instance_events e where e.instance_id = i.id and e.cause = 'on_demand'
        and e.generation = i.generation) as n
      from instances i where i.is_bid) x`);
  expect("bids that moved once", moves[0]?.once, total);
  expect("bids that moved more often, or not", moves[0]?.otherwise, 0);
  return problems;
}

function report(rounds: readonly Round[], options: Options): void {
  const total = options.hosts * options["gpus-per-host"];
  console.log(
    `\n${rounded(total)} running bids on ${rounded(options.hosts)} machines are displaced by ${rounded(options.hosts)} ` +
      `on-demand orders over ${options.connections} connections, notice ${options["notice-seconds"]} s; hosts do what they ` +
      `are told at once, over their real connections; ${options.rounds} rounds, median (range). The aim is ` +
      `${rounded(AIM_MS)} ms.\n`,
  );
  const of = (pick: (round: Round) => number) => medianAndRange(rounds.map(pick), 0);
  console.log(
    table([
      ["", "ms"],
      ["all orders answered, everybody displaced", of((round) => round.decidedMs)],
      ["settled: each winner has its GPUs", of((round) => round.settleMs)],
      ["one order, p50", of((round) => round.p50Ms)],
      ["control: as many rows moved by one statement, rolled back", of((round) => round.controlMs)],
      [
        "CPU of the server, of PostgreSQL",
        `${rounded(median(rounds.map((r) => r.serverMs)))} + ${rounded(median(rounds.map((r) => r.postgresMs)))}`,
      ],
    ]),
  );
}
