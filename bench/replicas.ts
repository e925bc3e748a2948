// Rents, reads and routed requests a second with one, two and four servers beside one PostgreSQL, and where the ceiling is.
import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "../test/support/until.ts";
import { makeEndpoint, NAME } from "./route.ts";
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
import type { JobResult } from "./support/load-process.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { auditRents, type Rented } from "./support/rent-audit.ts";
import { prepareRentControl, runRentControl } from "./support/rent-control.ts";
import { listSingleOffers, seedMachines, seedUsers, waitForOffers, type BenchUser } from "./support/seed.ts";

const SERVER_COUNTS = [1, 2, 4] as const;
const GPUS_PER_HOST = 8;
const CREDIT_DOLLARS = 100_000;
const CONTROL_MS = 1_000;
/** Connections of the benchmark itself: the embedded PostgreSQL takes 40, and each server 9 of them. */
const OWN_CONNECTIONS = 2;
const [DONE, GONE] = [200, 410];
const DEFAULTS = { hosts: 2_000, users: 200, connections: 64, rents: 2_000, reads: 8_000, routes: 8_000, workers: 200 };
type Options = typeof DEFAULTS;

type Server = { readonly url: string; readonly port: number; stop(): Promise<void> };
type Figures = { readonly rents: number; readonly reads: number; readonly control: number };
type Sent = { readonly user: BenchUser; readonly offerId: number; readonly text: string };

export async function run(args: readonly string[]): Promise<void> {
  const problems = await measureReplicas(readNumbers(args, DEFAULTS));
  for (const problem of problems) console.log(`AUDIT: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log("Audit: each acknowledged rent is there once, and no other is.");
}

/** Returns the findings of the audit, which void the figures. */
async function measureReplicas(options: Options): Promise<readonly string[]> {
  const rented: Rented[] = [];
  const { figures, problems } = await withServers(options, async (market, grow) => {
    const { first, users } = market;
    console.log(describeEnvironment(first.dataDir));
    await seedMachines(first.database, { hosts: options.hosts, gpusPerHost: GPUS_PER_HOST });
    await waitForOffers(first, options.hosts);
    await prepareRentControl(first.database);
    const measured = new Map<number, Figures>();
    await rentRound({ ...market, rented });
    await first.database.pool.query("analyze");
    for (const count of SERVER_COUNTS) {
      await grow(count);
      const control = await runRentControl(first.database, { connections: OWN_CONNECTIONS, forMs: CONTROL_MS });
      const rents = await rentRound({ ...market, rented });
      const reads = await spread(market, readTexts(users, options.reads));
      measured.set(count, { rents, reads: perSecond(reads), control });
    }
    return { figures: measured, problems: await auditRents(first.database, rented) };
  });
  const routes = await withServers(options, async (market, grow) => {
    await grow(Math.max(...SERVER_COUNTS));
    return routeRounds(market);
  });
  report(figures, routes);
  return problems;
}

/** Runs `work` on a database with one server, to which it may add others. */
async function withServers<T>(
  options: Options,
  work: (market: Market, grow: (count: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  const first = await startBenchServer({}, { connections: OWN_CONNECTIONS });
  const servers: Server[] = [{ ...first, stop: async () => {} }];
  const loads = [startLoadGenerator()];
  try {
    const users = await seedUsers(first.database, { count: options.users, creditDollars: CREDIT_DOLLARS });
    return await work({ first, servers, loads, users, options }, async (count) => {
      while (servers.length < count) {
        servers.push(await joinServer(first));
        loads.push(startLoadGenerator());
      }
    });
  } finally {
    for (const load of loads) load.stop();
    for (const server of servers) await server.stop();
    await first.stop();
  }
}

/** Another server over the database of the first one. */
async function joinServer(first: BenchServer): Promise<Server> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "berth-bench-"));
  await copyFile(path.join(first.dataDir, "secret"), path.join(dataDir, "secret"));
  const environment = {
    DATABASE_URL: first.connectionString,
    BERTH_DATA_DIR: dataDir,
    BERTH_RATE_LIMITS: NO_RATE_LIMITS,
    BERTH_NO_AGENT: "1",
  };
  const { child, url } = await spawnServer({ environment });
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      await endProcess(child);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

type Party = {
  readonly servers: readonly Server[];
  readonly loads: readonly LoadGenerator[];
  readonly options: Options;
};

/** Sends each server its part of the requests, all at the same time. */
async function spread({ servers, loads, options }: Party, texts: readonly string[]): Promise<readonly JobResult[]> {
  return Promise.all(
    servers.map((server, index) => {
      const load = loads[index];
      if (load === undefined) throw new Error("each server has a load generator");
      return load.run({
        port: server.port,
        connections: Math.ceil(options.connections / servers.length),
        requests: texts.filter((_, number) => number % servers.length === index),
        repeatMs: undefined,
        keepsAnswers: true,
      });
    }),
  );
}

function perSecond(results: readonly JobResult[]): number {
  const count = results.reduce((sum, result) => sum + (result.statuses.get(DONE) ?? 0), 0);
  return (count * 1000) / Math.max(...results.map(({ elapsedMs }) => elapsedMs));
}

type Market = Party & { readonly first: BenchServer; readonly users: readonly BenchUser[] };

async function rentRound({ first, users, rented, ...party }: Market & { readonly rented: Rented[] }): Promise<number> {
  const offers = (await listSingleOffers(first.database)).slice(0, party.options.rents);
  const orders = offers.flatMap((offerId, index): readonly Sent[] => {
    const user = users[index % users.length];
    return user === undefined ? [] : [{ user, offerId, text: orderText(user, offerId) }];
  });
  const results = await spread(
    party,
    orders.map(({ text }) => text),
  );
  const count = party.servers.length;
  for (const [index, { user, offerId, text }] of orders.entries()) {
    const answer = results[index % count]?.answers[Math.floor(index / count)];
    if (answer?.status === GONE) continue;
    if (answer?.status !== DONE) throw new Error(`an order was answered ${answer?.status}: ${answer?.body}`);
    const { new_contract: instanceId }: { readonly new_contract: number } = JSON.parse(answer.body);
    rented.push({ userId: user.id, offerId, instanceId, request: text, answer: answer.body });
  }
  return perSecond(results);
}

function orderText({ secret }: BenchUser, offerId: number): string {
  const body = { image: "alpine", disk: 16, label: "bench" };
  return requestText({ method: "PUT", path: `/api/v0/asks/${offerId}/`, secret, idempotencyKey: randomUUID(), body });
}

function readTexts(users: readonly BenchUser[], count: number): readonly string[] {
  const texts = users.map(({ secret }) => requestText({ method: "GET", path: "/api/v0/users/current/", secret }));
  return Array.from({ length: count }, (_, index) => texts[index % texts.length] ?? "");
}

/** Routed requests with each number of servers; after the audit, since the workers are instances that nobody rented. */
async function routeRounds({ first, users, ...party }: Market): Promise<ReadonlyMap<number, number>> {
  const [user] = users;
  if (user === undefined) throw new Error("there is no user");
  const endpoint = await makeEndpoint(first, user, party.options.workers);
  const body = { endpoint: NAME, api_key: endpoint.key, cost: 1, request_idx: 0, replay_timeout: 60 };
  for (const server of party.servers) {
    await until("a server to know the workers", async () => {
      const answer = await callApi(server, user.secret, { method: "POST", path: "/route/", body });
      return answer["url"] !== undefined;
    });
  }
  const text = requestText({ method: "POST", path: "/route/", body });
  const texts = Array.from({ length: party.options.routes }, () => text);
  const figures = new Map<number, number>();
  for (const count of SERVER_COUNTS) {
    const results = await spread({ ...party, servers: party.servers.slice(0, count) }, texts);
    figures.set(count, perSecond(results));
  }
  return figures;
}

function report(figures: ReadonlyMap<number, Figures>, routes: ReadonlyMap<number, number>): void {
  const rows = [...figures].map(([count, { rents, reads, control }]) => [
    String(count),
    rounded(rents),
    rounded(reads),
    rounded(routes.get(count) ?? 0),
    rounded(control),
  ]);
  console.log(
    `\n${table([["servers", "rents/s", "reads/s", "routed/s", "control: the rent's 8 statements on 2 connections/s"], ...rows])}\n`,
  );
}
