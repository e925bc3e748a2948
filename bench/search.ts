// Searching offers in process, over HTTP and in PostgreSQL, with an audit that voids the figures if their answers differ.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../server/src/base/clock.ts";
import type { MachineId } from "../server/src/base/ids.ts";
import { createLog } from "../server/src/base/log.ts";
import type { Database } from "../server/src/db/connect.ts";
import { withTransaction } from "../server/src/db/transaction.ts";
import { MARKET_CHANNEL } from "../server/src/domains/supply/hosts/for-assembly.ts";
import { notifyMachines } from "../server/src/domains/supply/hosts/for-instances.ts";
import { OfferTable, searchOffers } from "../server/src/domains/supply/market/for-assembly.ts";
import { searchText } from "../server/src/domains/supply/market/search/rules/search.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { quantile, rounded, table } from "./support/figures.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { memoryOf, processorMs } from "./support/processes.ts";
import { prepareSearchControl, searchControl, type ControlQuery } from "./support/search-control.ts";
import { seedOffers } from "./support/seed-offers.ts";
import { waitForOffers } from "./support/seed.ts";

const ROWS = 64;
/** The most offers that the search finds by itself; beyond it an audit of bundles would miss some. */
const LIMIT_MAX = 10_000;

const DEFAULTS = { offers: 100_000, large: 1_000_000, rounds: 400, "control-rounds": 60 };
type Options = typeof DEFAULTS;

type Subject = ControlQuery & { readonly name: string };

const SUBJECTS: readonly Subject[] = [
  {
    name: "one GPU model, 2 or more, reliable; cheapest",
    conditions: { gpu_name: { eq: "RTX 4090" }, num_gpus: { gte: 2 }, reliability: { gte: 0.95 } },
    order: ["dph_total", "asc"],
  },
  {
    name: "verified, rentable, not external; best score",
    conditions: { verified: { eq: true }, rentable: { eq: true }, external: { eq: false } },
    order: ["score", "desc"],
  },
  {
    name: "much memory, fast line, reliable; best score",
    conditions: { gpu_ram: { gte: 40_000 }, inet_down: { gte: 2000 }, reliability: { gte: 0.98 } },
    order: ["score", "desc"],
  },
];

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureSearch(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark and returns what its audit found; `interfere` lets a test plant a mistake before the audit. */
export async function measureSearch(
  options: Options,
  interfere: (server: BenchServer) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const server = await startBenchServer();
  const load = startLoadGenerator();
  const problems: string[] = [];
  try {
    console.log(describeEnvironment(server.dataDir));
    for (const offers of [options.offers, options.large].filter((size) => size > 0)) {
      await fillMarket(server, offers);
      await interfere(server);
      problems.push(...(await measureSize(server, load, options)));
    }
  } finally {
    load.stop();
    await server.stop();
  }
  if (problems.length === 0) console.log("\nAudit passed: all answers agree.");
  else console.log(`\nAudit FAILED, the figures above are void:\n  ${problems.join("\n  ")}`);
  return problems;
}

async function fillMarket(server: BenchServer, offers: number): Promise<void> {
  const { database } = server;
  const ids = await seedOffers(database, offers);
  await prepareSearchControl(database);
  const startMs = performance.now();
  await announce(database, ids);
  await waitForOffers(server, 1);
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`\n${rounded(ids.length)} machines more, which the server took in within ${rounded(seconds, 1)} s.`);
}

async function announce(database: Database, ids: readonly MachineId[]): Promise<void> {
  await withTransaction(database, systemClock, (tx) => notifyMachines(tx, MARKET_CHANNEL, ids));
}

async function measureSize(server: BenchServer, load: LoadGenerator, options: Options): Promise<readonly string[]> {
  const { offers, bytesPerOffer } = await loadTable(server.database);
  const machines = offers.index.machines.size;
  const { residentBytes } = memoryOf(server.processId);
  console.log(
    `${rounded(offers.size)} offers of ${rounded(machines)} machines: ${rounded(bytesPerOffer)} bytes for each offer ` +
      `with its part of its machine; the whole server has ${rounded(residentBytes / 2 ** 20)} MiB.\n`,
  );
  const problems: string[] = [];
  const rows = [["milliseconds", "in process p50", "p99", "HTTP p50", "p99", "CPU", "PostgreSQL p50", "p99"]];
  for (const subject of SUBJECTS) {
    problems.push(...(await auditSubject(server, offers, subject)));
    const own = measureInProcess(offers, subject, options.rounds);
    const overHttp = await measureHttp(server, load, subject, options.rounds);
    const control = await measureControl(server.database, subject, options["control-rounds"]);
    const shown = (times: Float64Array) => [rounded(quantile(times, 0.5), 2), rounded(quantile(times, 0.99), 2)];
    const http = [...shown(overHttp.latenciesMs), rounded(overHttp.serverMs, 2)];
    rows.push([subject.name, ...shown(own), ...http, ...shown(control)]);
  }
  console.log(
    `${table(rows)}\nA page of ${ROWS} whole records, equal offers folded; CPU is the server's for one request. PostgreSQL ` +
      "answers the same search for its own rows, not folded, with an index for each.",
  );
  return problems;
}

/** The server's table, filled from the same rows in this process, with its cost. */
async function loadTable(database: Database) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const bytes = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = bytes();
  const offers = new OfferTable(database, { clock: systemClock, log: createLog("silent") });
  await offers.load();
  return { offers, bytesPerOffer: (bytes() - before) / offers.size };
}

function bodyOf({ conditions, order }: Subject, extra: object = {}): Record<string, unknown> {
  return { ...conditions, order: [order], limit: ROWS, ...extra };
}

const caller = () => ({ now: systemClock.now(), rentedMachines: new Set<MachineId>() });

function measureInProcess(offers: OfferTable, subject: Subject, rounds: number): Float64Array {
  const body = bodyOf(subject);
  const once = () => {
    const startMs = performance.now();
    searchText(offers.index, body, caller());
    return performance.now() - startMs;
  };
  for (let round = 0; round < rounds / 4; round += 1) once();
  return Float64Array.from({ length: rounds }, once);
}

async function measureHttp(server: BenchServer, load: LoadGenerator, subject: Subject, rounds: number) {
  const request = requestText({ method: "POST", path: "/api/v0/bundles/", body: bodyOf(subject) });
  const job = { port: server.port, connections: 1, repeatMs: undefined, keepsAnswers: false };
  await load.run({ ...job, requests: Array.from({ length: Math.ceil(rounds / 4) }, () => request) });
  const before = processorMs(server.processId);
  const result = await load.run({ ...job, requests: Array.from({ length: rounds }, () => request) });
  const wrong = [...result.statuses.keys()].filter((status) => status !== 200);
  if (wrong.length > 0) throw new Error(`searches were answered ${wrong.join(", ")}`);
  return {
    latenciesMs: result.latenciesMs,
    serverMs: (processorMs(server.processId) - before) / result.count,
  };
}

async function measureControl(database: Database, subject: Subject, rounds: number): Promise<Float64Array> {
  const times = new Float64Array(rounds);
  await searchControl(database, subject, ROWS);
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    await searchControl(database, subject, ROWS);
    times[round] = performance.now() - startMs;
  }
  return times;
}

/** The table in this process, the server and PostgreSQL must name the same offers; bundles must be those of the offers. */
async function auditSubject(server: BenchServer, offers: OfferTable, subject: Subject): Promise<readonly string[]> {
  const problems: string[] = [];
  const single = { disable_bundling: true };
  const expected = await searchControl(server.database, subject, ROWS);
  const own = searchOffers(offers.index, bodyOf(subject, single), caller()).map(({ id }) => id);
  const answered = await searchOverHttp(server, bodyOf(subject, single));
  const say = (what: string) => problems.push(`${subject.name}: ${what}`);
  if (expected.length === 0) say("nothing was found, which shows nothing");
  if (expected.join() !== own.join()) say("the table and PostgreSQL differ");
  if (expected.join() !== answered.map(({ id }) => id).join()) say("the server and PostgreSQL differ");
  const all = searchOffers(offers.index, bodyOf(subject, { ...single, limit: LIMIT_MAX }), caller());
  const firsts = new Map<string, number>();
  for (const offer of all) {
    const key = `${offer.bundle_id} ${offer.rentable}`;
    if (!firsts.has(key)) firsts.set(key, offer.id);
  }
  const bundled = await searchOverHttp(server, bodyOf(subject));
  const wanted = [...firsts.values()].slice(0, bundled.length);
  if (bundled.map(({ id }) => id).join() !== wanted.join()) say("bundles differ from the offers that they are made of");
  return problems;
}

async function searchOverHttp({ url }: BenchServer, body: object): Promise<readonly { readonly id: number }[]> {
  const response = await fetch(`${url}/api/v0/bundles/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`a search was answered ${response.status}: ${await response.text()}`);
  const { offers } = (await response.json()) as { readonly offers: readonly { readonly id: number }[] };
  return offers;
}
