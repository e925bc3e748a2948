// Rounds of load and kills, and at the end the books.
import { setTimeout as delay } from "node:timers/promises";
import { CrashClients } from "./crash-clients.ts";
import { auditCrash } from "./crash-oracle.ts";
import { CrashWorld, KILLS, type Kill } from "./crash-world.ts";
import { seededRandom } from "./random.ts";

export type CrashOptions = {
  readonly seed: number;
  readonly kills: number;
  /** How often each kind of kill is drawn, against the others. */
  readonly weights: Readonly<Record<Kill, number>>;
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
/** Processes alone: without the power of a rack, and without the absence that takes a minute. */
export const QUICK_KILLS: CrashOptions["weights"] = { ...ALL_KILLS, power: 0, absence: 0 };

const [LOAD_MIN_MS, LOAD_MAX_MS] = [200, 2_500];

/** Returns what is wrong, which must be nothing. */
export async function runCrashes({ seed, kills, weights }: CrashOptions): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const world = await CrashWorld.open();
  const clients = await CrashClients.open(world, seededRandom(seed + 1));
  try {
    clients.begin();
    for (let round = 1; round <= kills; round += 1) {
      await delay(LOAD_MIN_MS + (LOAD_MAX_MS - LOAD_MIN_MS) * random());
      const kill = drawKill(weights, random);
      const [beganMs, acknowledged] = [performance.now(), clients.acknowledged()];
      const killed = await world.crash(kill, random);
      const tookMs = Math.round(performance.now() - beganMs);
      console.log(`kill ${round}/${kills}: ${killed}; ${acknowledged} acknowledged before; ready after ${tookMs} ms`);
    }
    await delay(LOAD_MAX_MS);
    await clients.stop();
    await clients.destroyAll();
    return await auditCrash(world, clients);
  } finally {
    await clients.abandon();
    await world.close();
  }
}

function drawKill(weights: CrashOptions["weights"], random: () => number): Kill {
  let left = random() * KILLS.reduce((sum, kill) => sum + weights[kill], 0);
  return KILLS.find((kill) => (left -= weights[kill]) < 0) ?? "server";
}
