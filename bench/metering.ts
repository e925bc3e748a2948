// The cost of metering a large market for an hour: receiving reports, settling all runs, and settling only changed ones.
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../server/src/base/clock.ts";
import { asId, type InstanceId } from "../server/src/base/ids.ts";
import { withTransaction } from "../server/src/db/transaction.ts";
import { settleDue } from "../server/src/domains/money/charging/index.ts";
import { audit } from "../server/src/domains/money/audit/audit-service.ts";
import { ManualClock } from "../test/support/manual-clock.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchDatabase, type BenchDatabase, type Used } from "./support/bench-database.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, rounded, table } from "./support/figures.ts";
import { seedInstances, TRAFFIC_EVERY, type SeededInstance } from "./support/seed-instances.ts";
import { seedMachines, seedUsers } from "./support/seed.ts";
import { prepareSettleControl, settleOneByOne } from "./support/settle-control.ts";
import { SpeakingMachines } from "./support/speaking-machines.ts";
import { makeDue } from "../server/src/domains/money/tabs/index.ts";

const DEFAULTS = {
  machines: 10_000,
  "gpus-per-machine": 10,
  renters: 1_000,
  rounds: 3,
  "heard-seconds": 60,
  "control-count": 2_000,
};
type Options = typeof DEFAULTS;

const CREDIT_DOLLARS = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SECOND_MS = 1_000;
const TICK_MS = 10;
/** The time from a settlement to the hosts' reports, so that the few that change then have something to charge. */
const HEARD_AFTER_MS = 120_000;
const CHANGED_SHARE = 0.01;

type Settling = { readonly wallMs: number; readonly used: Used; readonly lines: number };

type Market = {
  readonly bench: BenchDatabase;
  readonly clock: ManualClock;
  readonly instances: readonly SeededInstance[];
  readonly machines: SpeakingMachines;
  readonly options: Options;
};

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureMetering(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found; `interfere` lets a test plant a mistake before the audit. */
export async function measureMetering(
  options: Options,
  interfere: (bench: BenchDatabase) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const bench = await startBenchDatabase();
  try {
    console.log(describeEnvironment(bench.dataDir));
    const market = await fillMarket(bench, options);
    const heard = await hearInRealTime(market);
    const settlings: Settling[] = [];
    for (let round = 0; round < options.rounds; round += 1) settlings.push(await settleHour(market));
    await prepareSettleControl(bench.database);
    const control = await bench.measure(() => settleOneByOne(bench.database, options["control-count"]));
    const quiet = await settleQuietHour(market);
    report(market, { heard, settlings, control, quiet });
    await interfere(bench);
    return await auditAll(market);
  } finally {
    await bench.stop();
  }
}

async function fillMarket(bench: BenchDatabase, options: Options): Promise<Market> {
  const { database } = bench;
  // At noon tomorrow: credit was given before, and a simulated hour ends no day.
  const startMs = Math.floor(systemClock.now().getTime() / DAY_MS) * DAY_MS + 1.5 * DAY_MS;
  const clock = new ManualClock(startMs);
  const users = await seedUsers(database, { count: options.renters, creditDollars: CREDIT_DOLLARS });
  const machineIds = await seedMachines(database, {
    hosts: options.machines,
    gpusPerHost: options["gpus-per-machine"],
  });
  const instances = await seedInstances(database, {
    machineIds,
    renterIds: users.map(({ id }) => id),
    startAt: clock.now(),
  });
  const machines = new SpeakingMachines(database, { clock, instances });
  // Sets aside what each needs for its first hour; it compiles the code, too.
  await settleAll({ bench, clock });
  return { bench, clock, instances, machines, options };
}

/** Settles all runs: a loop settles up to its limit at a time. */
async function settleAll({ bench: { database }, clock }: Pick<Market, "bench" | "clock">): Promise<number> {
  let lines = 0;
  for (;;) {
    const counts = await settleDue(database, clock);
    if (counts.stopped > 0) throw new Error("somebody was stopped although there is credit");
    lines += counts.lines;
    if (counts.settled === 0) return lines;
  }
}

/** The machines speak when their heartbeats are due, in real time: how many are stored together decides what it costs. */
async function hearInRealTime(market: Market): Promise<Used & { readonly reports: number }> {
  const { bench, clock, machines, options } = market;
  const { heartbeatMs: everyMs, count } = machines;
  const ticks = Math.ceil(everyMs / TICK_MS);
  const place = (tick: number) => Math.floor((tick * count) / ticks);
  const total = Math.floor((options["heard-seconds"] * SECOND_MS) / TICK_MS);
  const used = { serverMs: 0, postgresMs: 0, reports: 0 };
  // Each machine reports first at its place in the beat, and goes on for as long as counters are still being stored.
  for (let tick = 0; tick < ticks; tick += 1) {
    await machines.say(place(tick), machines.write(place(tick), place(tick + 1)));
    clock.advance(TICK_MS);
  }
  const waiting = new Set<Promise<void>>();
  const writing = { micros: 0 };
  const measured = await bench.measure(async () => {
    const startMs = performance.now();
    for (let tick = 0; tick < total; tick += 1) {
      const [first, end] = [place(tick % ticks), place((tick % ticks) + 1)];
      const before = process.cpuUsage();
      const texts = machines.write(first, end);
      const { user, system } = process.cpuUsage(before);
      writing.micros += user + system;
      const said: Promise<void> = machines.say(first, texts).finally(() => waiting.delete(said));
      waiting.add(said);
      used.reports += texts.length;
      const lateMs = performance.now() - startMs - (tick + 1) * TICK_MS;
      await setTimeout(Math.max(0, -lateMs));
      clock.advance(TICK_MS);
    }
    await Promise.all(waiting);
  });
  used.serverMs = measured.used.serverMs - writing.micros / 1000;
  used.postgresMs = measured.used.postgresMs;
  return used;
}

/** An hour later, all machines have been heard, and everything is due. */
async function settleHour({ bench, clock, machines }: Market): Promise<Settling> {
  clock.advance(HOUR_MS);
  await machines.sayAll();
  const { result: lines, wallMs, used } = await bench.measure(() => settleAll({ bench, clock }));
  return { lines, wallMs, used };
}

/** An hour in which no run is due by itself: each second the loop looks, and finds the runs that changed. */
async function settleQuietHour(market: Market): Promise<Settling & { readonly changed: number }> {
  const { bench, clock, machines, instances } = market;
  clock.advance(HEARD_AFTER_MS);
  await machines.sayAll();
  const seconds = (HOUR_MS - HEARD_AFTER_MS) / SECOND_MS - 1;
  const every = Math.round(1 / CHANGED_SHARE);
  const changing = instances.filter((_, index) => index % every === 0);
  const measured = await bench.measure(async () => {
    let lines = 0;
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(SECOND_MS);
      const place = (at: number) => Math.floor((at * changing.length) / seconds);
      const ids = changing.slice(place(second), place(second + 1)).map(({ id }) => asId<InstanceId>(id));
      if (ids.length > 0) await withTransaction(bench.database, clock, (tx) => makeDue(tx, ids));
      lines += (await settleDue(bench.database, clock)).lines;
    }
    return lines;
  });
  return { lines: measured.result, wallMs: measured.wallMs, used: measured.used, changed: changing.length };
}

type Figures = {
  readonly heard: Used & { readonly reports: number };
  readonly settlings: readonly Settling[];
  readonly control: { readonly wallMs: number; readonly used: Used };
  readonly quiet: Settling & { readonly changed: number };
};

function report({ instances, options, machines }: Market, { heard, settlings, control, quiet }: Figures): void {
  const count = instances.length;
  const scale = count / options["control-count"];
  const seconds = (ms: number) => rounded(ms / 1000, 1);
  const shares = (used: Used, ofMs: number) => [
    `${rounded((used.serverMs / ofMs) * 100, 2)} %`,
    `${rounded((used.postgresMs / ofMs) * 100, 2)} %`,
  ];
  const cpu = ({ used }: { readonly used: Used }) => used.serverMs + used.postgresMs;
  const of = (pick: (settling: Settling) => number) =>
    medianAndRange(
      settlings.map((one) => pick(one) / 1000),
      1,
    );
  console.log(
    `\n${rounded(count)} running instances of ${rounded(options.renters)} renters on ${rounded(machines.count)} machines; ` +
      `every ${TRAFFIC_EVERY}th pays for traffic. This process does what a server does, but the lines to the hosts: reports ` +
      `go in as texts of messages, and nothing is answered.\n`,
  );
  console.log(
    table([
      ["of one core", "server", "PostgreSQL"],
      [
        `${rounded(heard.reports)} heartbeats in ${options["heard-seconds"]} s, each machine every ${machines.heartbeatMs / 1000} s`,
        ...shares(heard, options["heard-seconds"] * SECOND_MS),
      ],
      [
        `an hour without anything due but ${rounded(quiet.changed)} changes, ${rounded(quiet.lines)} lines`,
        ...shares(quiet.used, HOUR_MS),
      ],
      [
        "settling everything once in an hour",
        ...shares(
          {
            serverMs: median(settlings.map(({ used }) => used.serverMs)),
            postgresMs: median(settlings.map(({ used }) => used.postgresMs)),
          },
          HOUR_MS,
        ),
      ],
    ]),
  );
  const controlCpu = cpu(control) * scale;
  console.log(
    `\n${table([
      [`settling all ${rounded(count)}, seconds`, "wall", "CPU server", "CPU PostgreSQL", "lines/s"],
      [
        `Berth, ${settlings.length} rounds, median (range)`,
        of(({ wallMs }) => wallMs),
        of(({ used }) => used.serverMs),
        of(({ used }) => used.postgresMs),
        medianAndRange(settlings.map(({ lines, wallMs }) => (lines * 1000) / wallMs)),
      ],
      [
        `control: one by one, from ${rounded(options["control-count"])}`,
        seconds(control.wallMs * scale),
        seconds(control.used.serverMs * scale),
        seconds(control.used.postgresMs * scale),
        rounded((options["control-count"] * 2 * 1000) / control.wallMs),
      ],
    ])}`,
  );
  const [wall, own] = [median(settlings.map(({ wallMs }) => wallMs)), median(settlings.map(cpu))];
  console.log(
    `\nThe control writes two lines for each and is extrapolated; it takes ${rounded((control.wallMs * scale) / wall, 1)} times ` +
      `as long, and ${rounded(controlCpu / own, 1)} times the processor time (Berth: ${seconds(own)} s in all).`,
  );
}

/** Checks that all charges follow from the facts, and all accounts from their transfers. */
async function auditAll({ bench: { database }, clock, instances }: Market): Promise<readonly string[]> {
  const { checks } = await audit({ database, clock }, { isFull: true });
  const problems = checks.flatMap(({ name, differenceCount, differences }) =>
    differenceCount === 0
      ? []
      : [`${name}: ${differenceCount} differ, such as ${JSON.stringify(differences[0] ?? null)}`],
  );
  const { rows } = await database.pool.query<{ n: number; uncharged: number }>(
    `select count(distinct instance_id)::integer as n,
       (select count(*)::integer from instance_runs where charged_running_ms = 0) as uncharged from charge_lines`,
  );
  if (rows[0]?.n !== instances.length || rows[0].uncharged !== 0) problems.push("some were never charged");
  if (problems.length === 0) console.log("\nAudit passed: everything again from the facts, nothing differs.");
  else console.log(`\nAudit FAILED, the figures above are void:\n  ${problems.join("\n  ")}`);
  return problems;
}
