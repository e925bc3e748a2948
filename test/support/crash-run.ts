// Rounds of load and kills, and at the end the books.
import { setTimeout as delay } from "node:timers/promises";
import { CrashClients } from "./crash-clients.ts";
import { auditCrash, type Findings } from "./crash-oracle.ts";
import { CrashWorld, KILLS, type Kill } from "./crash-world.ts";
import { seededRandom } from "./random.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  /** How often each kind of kill is drawn, against the others. */
  readonly weights: Readonly<Record<Kill, number>>;
  /** Hears of each kill when all is up again. */
  readonly tell: (kill: KillNews) => void;
};

export type KillNews = {
  readonly round: number;
  readonly sinceBeginMs: number;
  /** What exactly was killed. */
  readonly what: string;
  /** How long it took until everything worked again. */
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
/** Without the absence, which takes a minute. */
export const QUICK_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, absence: 0 };

const [LOAD_MIN_MS, LOAD_MAX_MS] = [200, 2_500];

/** Kills again and again while clients spend money, and looks at what is left in the end. */
export async function runCrashes({ seed, kills: count, weights, tell }: CrashOptions): Promise<CrashReport> {
  const random = seededRandom(seed);
  const world = await CrashWorld.open();
  const clients = await CrashClients.open(world, seededRandom(seed + 1));
  const [kills, beganMs]: [Kill[], number] = [[], performance.now()];
  try {
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
  } finally {
    await clients.abandon();
    await world.close();
  }
}

function drawKill(weights: CrashOptions["weights"], random: () => number): Kill {
  let left = random() * KILLS.reduce((sum, kill) => sum + weights[kill], 0);
  return KILLS.find((kill) => (left -= weights[kill]) < 0) ?? "server";
}
