// Durable rents per second over HTTP on a market of simulated machines, with an audit that voids the figures if it fails.
import { randomUUID } from "node:crypto";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import type { JobResult } from "./support/load-process.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { processorMs, processorMsWithChildren } from "./support/processes.ts";
import { auditRents, type Rented } from "./support/rent-audit.ts";
import { prepareRentControl, runRentControl } from "./support/rent-control.ts";
import { listSingleOffers, seedMachines, seedUsers, waitForOffers, type BenchUser } from "./support/seed.ts";

const CREDIT_DOLLARS = 100_000;
/** The race: this share of the callers for this share of the offers. */
const RACING_SHARE = 0.9;
const CONTESTED_SHARE = 0.01;
const RENTED = 200;
const GONE = 410;

type Order = { readonly user: BenchUser; readonly offerId: number; readonly text: string };
type Phase = { readonly name: string; readonly rounds: Round[] };
type Round = {
  readonly rentsPerSecond: number;
  readonly answersPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverMicros: number;
  readonly postgresMicros: number;
  readonly clientMicros: number;
};

const DEFAULTS = {
  hosts: 10_000,
  "gpus-per-host": 8,
  users: 500,
  connections: 256,
  rents: 8_000,
  rounds: 3,
  replays: 500,
  "control-ms": 2_000,
};

type Options = typeof DEFAULTS;

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureRents(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found; `interfere` lets a test plant a mistake before the audit. */
export async function measureRents(
  options: Options,
  interfere: (server: BenchServer) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const server = await startBenchServer();
  const load = startLoadGenerator();
  try {
    console.log(describeEnvironment(server.dataDir));
    const { hosts, "gpus-per-host": gpusPerHost } = options;
    const users = await seedUsers(server.database, { count: options.users, creditDollars: CREDIT_DOLLARS });
    await seedMachines(server.database, { hosts, gpusPerHost });
    await waitForOffers(server, hosts);
    console.log(
      `Market: ${rounded(hosts)} simulated machines with ${gpusPerHost} GPUs (${rounded(hosts * gpusPerHost)}), rows ` +
        `without agent processes, so that pushing the desired set to a host is not part of the figures.`,
    );
    await prepareRentControl(server.database);
    const uniform: Phase = { name: "uniform offers", rounds: [] };
    const race: Phase = { name: "90 % race for 1 %", rounds: [] };
    const controls = { one: [] as number[], eight: [] as number[] };
    const rented: Rented[] = [];
    const market = { server, load, users, options, rented };
    // Compiles the code and makes the server remember the keys; audited like everything else.
    await rentRound(market, { name: "warm-up", rounds: [] }, pickUniform);
    // Autovacuum does this some seconds later: it replaces plans that were made for empty tables.
    await server.database.pool.query("analyze");
    for (let round = 0; round < options.rounds; round += 1) {
      controls.one.push(await runRentControl(server.database, { connections: 1, forMs: options["control-ms"] }));
      controls.eight.push(await runRentControl(server.database, { connections: 8, forMs: options["control-ms"] }));
      await rentRound(market, uniform, pickUniform);
      await rentRound(market, race, pickContested);
    }
    report([uniform, race], controls, options);
    await interfere(server);
    return await audit(market);
  } finally {
    load.stop();
    await server.stop();
  }
}

type Market = {
  readonly server: BenchServer;
  readonly load: LoadGenerator;
  readonly users: readonly BenchUser[];
  readonly options: Options;
  readonly rented: Rented[];
};

type Pick = (offers: readonly number[], count: number) => readonly number[];

/** Picks different offers for all callers. */
const pickUniform: Pick = (offers, count) => shuffled(offers).slice(0, count);

/** Picks the same few offers for most callers, again and again, and others for the rest. */
const pickContested: Pick = (offers, count) => {
  const mixed = shuffled(offers);
  const hot = mixed.slice(0, Math.max(1, Math.floor(mixed.length * CONTESTED_SHARE)));
  const rest = mixed.slice(hot.length);
  const racing = Math.floor(count * RACING_SHARE);
  const wanted = Array.from({ length: racing }, (_, index) => hot[index % hot.length] ?? 0);
  return shuffled([...wanted, ...rest.slice(0, count - racing)]);
};

function shuffled(values: readonly number[]): number[] {
  const result = [...values];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [result[index], result[other]] = [result[other] ?? 0, result[index] ?? 0];
  }
  return result;
}

async function rentRound(market: Market, phase: Phase, pick: Pick): Promise<void> {
  const { server, load, options, users } = market;
  const offers = pick(await listSingleOffers(server.database), options.rents);
  const orders = offers.map((offerId, index): Order => {
    const user = users[index % users.length];
    if (user === undefined) throw new Error("somebody has to rent");
    return { user, offerId, text: orderText(user, offerId) };
  });
  const cpuMs = () => [processorMs(server.processId), processorMsWithChildren(server.postgresProcessId)] as const;
  const before = cpuMs();
  const result = await load.run({
    port: server.port,
    connections: options.connections,
    requests: orders.map(({ text }) => text),
    repeatMs: undefined,
    keepsAnswers: true,
  });
  const after = cpuMs();
  const rentCount = result.statuses.get(RENTED) ?? 0;
  const micros = (index: 0 | 1) => ((after[index] - before[index]) * 1000) / result.count;
  phase.rounds.push({
    rentsPerSecond: (rentCount * 1000) / result.elapsedMs,
    answersPerSecond: (result.count * 1000) / result.elapsedMs,
    p50Ms: quantile(result.latenciesMs, 0.5),
    p99Ms: quantile(result.latenciesMs, 0.99),
    serverMicros: micros(0),
    postgresMicros: micros(1),
    clientMicros: (result.cpuMs * 1000) / result.count,
  });
  market.rented.push(...readAnswers(orders, result));
}

function orderText({ secret }: BenchUser, offerId: number): string {
  return requestText({
    method: "PUT",
    path: `/api/v0/asks/${offerId}/`,
    secret,
    idempotencyKey: randomUUID(),
    body: {
      image: "pytorch/pytorch:2.6.0-cuda12.6-cudnn9-runtime",
      disk: 16,
      env: { MODEL: "llama", "-p 8080:8080": "1" },
      onstart: "python -m http.server 8080",
      label: "bench",
    },
  });
}

function readAnswers(orders: readonly Order[], { answers }: JobResult): readonly Rented[] {
  return orders.flatMap(({ user, offerId, text }, index): readonly Rented[] => {
    const { status, body } = answers[index] ?? { status: 0, body: "" };
    if (status === GONE) return [];
    if (status !== RENTED) throw new Error(`an order was answered ${status}: ${body}`);
    const { new_contract: instanceId }: { new_contract: number } = JSON.parse(body);
    return [{ userId: user.id, offerId, instanceId, request: text, answer: body }];
  });
}

function report(
  phases: readonly Phase[],
  controls: { readonly one: readonly number[]; readonly eight: readonly number[] },
  { rents, rounds, connections, users }: Options,
): void {
  console.log(
    `\nClosed loop, ${connections} keep-alive connections of ${users} users, an Idempotency-Key on each request, ` +
      `${rounds} rounds of ${rounded(rents)} orders, fsync on: median (range).\n`,
  );
  const rows = phases.map(({ name, rounds: all }) => {
    const of = (pick: (round: Round) => number, digits = 0) => medianAndRange(all.map(pick), digits);
    const middle = (pick: (round: Round) => number, digits = 0) => rounded(median(all.map(pick)), digits);
    return [
      name,
      of((round) => round.rentsPerSecond),
      of((round) => round.answersPerSecond),
      middle((round) => round.p50Ms, 1),
      middle((round) => round.p99Ms, 1),
      `${middle((round) => round.serverMicros)} + ${middle((round) => round.postgresMicros)} + ${middle((round) => round.clientMicros)}`,
    ];
  });
  const none = ["", "", "", ""];
  console.log(
    table([
      ["", "rents/s", "answers/s", "p50 ms", "p99 ms", "CPU µs: server + PostgreSQL + client"],
      ...rows,
      ["control: driver, 8 statements, one at a time", medianAndRange(controls.one), ...none],
      ["control: the same on 8 connections", medianAndRange(controls.eight), ...none],
    ]),
  );
}

/** Finds states that must never be; also repeats answered requests, which must give the same bytes. */
async function audit({ server, load, rented, options }: Market): Promise<readonly string[]> {
  const sample = shuffled(rented.map((_, index) => index)).slice(0, options.replays);
  const replayed = sample.flatMap((index) => rented[index] ?? []);
  const repeated = await load.run({
    port: server.port,
    connections: 8,
    requests: replayed.map(({ request }) => request),
    repeatMs: undefined,
    keepsAnswers: true,
  });
  const lost = replayed.filter(({ answer }, index) => repeated.answers[index]?.body !== answer);
  const problems = [
    ...(lost.length === 0 ? [] : [`${lost.length} of ${replayed.length} repeated orders had another answer`]),
    ...(await auditRents(server.database, rented)),
  ];
  const checked = `${rounded(rented.length)} rents, ${rounded(replayed.length)} of them asked for twice`;
  if (problems.length === 0) console.log(`\nAudit passed: ${checked}.`);
  else console.log(`\nAudit FAILED, the figures above are void (${checked}):\n  ${problems.join("\n  ")}`);
  return problems;
}
