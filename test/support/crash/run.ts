// Rounds of load and kills, and an audit of the books at the end.
import { setTimeout as delay } from "node:timers/promises";
import { CrashClients } from "./clients.ts";
import { auditCrash, type Findings } from "./oracle.ts";
import { CrashWorld, KILLS, type Kill } from "./world.ts";
import { seededRandom } from "../random.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  /** How many servers share the database; one with a PostgreSQL of its own unless given. */
  readonly servers?: number;
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
};
/** Weights without absences, each of which takes a minute. */
export const QUICK_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, absence: 0 };

/**
 * Weights for several servers over one PostgreSQL: its postmaster is not killed, since the one that tests start here is
 * started again a few times only, for any number of kills.
 */
export const SEVERAL_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, server: 50, postmaster: 0, backend: 8 };

const [LOAD_MIN_MS, LOAD_MAX_MS] = [200, 2_500];

/** Kills again and again while clients spend money, and checks the books at the end. */
export async function runCrashes({ servers = 1, ...options }: CrashOptions): Promise<CrashReport> {
  const world = await CrashWorld.open(servers);
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
  { seed, kills: count, weights, tell }: Omit<CrashOptions, "servers">,
): Promise<CrashReport> {
  const random = seededRandom(seed);
  const [kills, beganMs]: [Kill[], number] = [[], performance.now()];
  clients.begin();
  while (kills.length < count) {
    await delay(LOAD_MIN_MS + (LOAD_MAX_MS - LOAD_MIN_MS) * random());
    const kill = drawKill(weights, random);
    const [killedMs, acknowledgedCount] = [performance.now(), clients.acknowledged()];
    const what = await world.crash(kill, random);
    kills.push(kill);
    const backAfterMs = performance.now() - killedMs;
    tell({ round: kills.length, sinceBeginMs: killedMs - beganMs, what, backAfterMs, acknowledgedCount });
  }
  await delay(LOAD_MAX_MS);
  await clients.stop();
  await clients.destroyAll();
  const findings = await auditCrash(world, clients);
  return { ...findings, kills, tookMs: performance.now() - beganMs, acknowledgedCount: clients.acknowledged() };
}

function drawKill(weights: CrashOptions["weights"], random: () => number): Kill {
  let left = random() * KILLS.reduce((sum, kill) => sum + weights[kill], 0);
  return KILLS.find((kill) => (left -= weights[kill]) < 0) ?? "server";
}
