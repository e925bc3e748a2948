// Rounds of load and kills, and an audit of the books at the end.
import { setTimeout as delay } from "node:timers/promises";
import type { Patroni } from "../cluster/patroni.ts";
import { CrashClients } from "./clients.ts";
import { auditCrash, type Findings } from "./oracle.ts";
import { CrashWorld, KILLS, type Kill } from "./world.ts";
import { seededRandom } from "../random.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  /** How many servers share the database; one with a PostgreSQL of its own unless given. */
  readonly servers?: number;
  /** Two PostgreSQL that fail over, in place of one that this run starts. */
  readonly patroni?: Patroni;
  /** How often each kind of kill is drawn, against the others. */
  readonly weights: Readonly<Record<Kill, number>>;
  /** Called after each kill, when everything is up again. */
  readonly tell: (kill: KillNews) => void;
};

export type KillNews = {
  readonly round: number;
  readonly sinceBeginMs: number;
  /** The processes that were killed, in words. */
  readonly what: string;
  /** The time until everything worked again. */
  readonly backAfterMs: number;
  /** How many requests of clients had been answered when it was killed. */
  readonly acknowledgedCount: number;
  /** The time until the first request that was sent after the kill, and that writes, had its answer. */
  readonly writtenAfterMs: number;
};

export type CrashReport = Findings & {
  readonly kills: readonly Kill[];
  readonly tookMs: number;
  readonly acknowledgedCount: number;
};

export const ALL_KILLS: CrashOptions["weights"] = {
  server: 30,
  postmaster: 14,
  backend: 18,
  agents: 18,
  "server and agents": 10,
  power: 7,
  absence: 2,
  primary: 0,
  "primary machine": 0,
  "standby machine": 0,
};
/** Weights without absences, each of which takes a minute. */
export const QUICK_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, absence: 0 };

/**
 * Weights for several servers over one PostgreSQL: its postmaster is not killed, since the one that tests start here is
 * started again a few times only, for any number of kills.
 */
export const SEVERAL_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, server: 50, postmaster: 0, backend: 8 };

/** Weights for a PostgreSQL that Patroni keeps: its primary dies, mostly the process and at times its whole machine. */
export const DATABASE_KILLS: CrashOptions["weights"] = {
  ...{ server: 0, postmaster: 0, backend: 0, agents: 0, "server and agents": 0, power: 0, absence: 0 },
  ...{ primary: 60, "primary machine": 30, "standby machine": 10 },
};

const [LOAD_MIN_MS, LOAD_MAX_MS] = [200, 2_500];

/** Kills again and again while clients spend money, and checks the books at the end. */
export async function runCrashes({ servers = 1, patroni, ...options }: CrashOptions): Promise<CrashReport> {
  const world = await CrashWorld.open(servers, patroni);
  const clients = await CrashClients.open(world, seededRandom(options.seed + 1));
  try {
    return await crashUnderLoad({ world, clients }, options);
  } finally {
    await clients.abandon();
    await world.close();
  }
}

/** A run of kills in a world that the caller has opened and closes. */
export async function crashUnderLoad(
  { world, clients }: { readonly world: CrashWorld; readonly clients: CrashClients },
  { seed, kills: count, weights, tell }: Omit<CrashOptions, "servers" | "patroni">,
): Promise<CrashReport> {
  const random = seededRandom(seed);
  const [kills, beganMs]: [Kill[], number] = [[], performance.now()];
  clients.begin();
  while (kills.length < count) {
    await delay(LOAD_MIN_MS + (LOAD_MAX_MS - LOAD_MIN_MS) * random());
    const kill = drawKill(weights, random);
    const acknowledgedCount = clients.acknowledged();
    let [killedMs, written] = [performance.now(), Promise.resolve(0)];
    const what = await world.crash(kill, random, () => {
      [killedMs, written] = [performance.now(), clients.nextWritten()];
    });
    kills.push(kill);
    const backAfterMs = performance.now() - killedMs;
    const writtenAfterMs = (await written) - killedMs;
    tell({
      round: kills.length,
      sinceBeginMs: killedMs - beganMs,
      what,
      backAfterMs,
      acknowledgedCount,
      writtenAfterMs,
    });
  }
  await delay(LOAD_MAX_MS);
  await clients.stop();
  await clients.destroyAll();
  const findings = await auditCrash(world, clients);
  const problems = [...findings.problems, ...clients.wrongAnswers];
  return {
    ...findings,
    problems,
    kills,
    tookMs: performance.now() - beganMs,
    acknowledgedCount: clients.acknowledged(),
  };
}

function drawKill(weights: CrashOptions["weights"], random: () => number): Kill {
  let left = random() * KILLS.reduce((sum, kill) => sum + weights[kill], 0);
  return KILLS.find((kill) => (left -= weights[kill]) < 0) ?? "server";
}
