// The drill: kills each part under load, compares what was acknowledged with what is there, and restores a backup.
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CrashClients } from "../crash/clients.ts";
import { auditAcknowledged, auditCredit, auditLedger, auditLines, untilSettled } from "../crash/oracle.ts";
import { seededRandom } from "../random.ts";
import { restoreBackup, takeBackup } from "./backup.ts";
import { listParts, type Part } from "./parts.ts";
import { DrillWorld, type DrillOptions } from "./world.ts";

/** Seconds of load before and after each death. */
const LOAD_MS = 3_000;

export type Death = {
  readonly part: string;
  /** From the death to the answer of the first write that was sent after it. */
  readonly writtenAfterMs: number;
  /** From the death until everything was as before. */
  readonly wholeAfterMs: number;
  /** Answers to renters that were neither what they asked for nor 502, 503 or 504 with a time to come back. */
  readonly wrongAnswerCount: number;
};

export type Restore = { readonly tookMs: number; readonly acknowledged: number; readonly problems: readonly string[] };

export type DrillReport = {
  readonly deaths: readonly Death[];
  readonly restore: Restore | undefined;
  readonly acknowledged: number;
  readonly auditWords: string;
  /** One sentence for each thing that was lost, done twice, or answered wrongly. */
  readonly problems: readonly string[];
};

export type DrillRequest = DrillOptions & {
  readonly seed: number;
  /** Names of the parts to kill; all of them when absent. */
  readonly parts?: readonly string[] | undefined;
  readonly hasRestore: boolean;
  readonly tell: (line: string) => void;
};

export async function runDrill({ seed, parts, hasRestore, tell, ...options }: DrillRequest): Promise<DrillReport> {
  tell(`Starting 3 servers, 2 PostgreSQL with Patroni, 3 etcd, 2 HAProxy and ${options.hosts} simulated hosts…`);
  const world = await DrillWorld.open(options);
  const clients = await CrashClients.open(world, seededRandom(seed));
  try {
    clients.begin();
    const deaths: Death[] = [];
    for (const part of listParts().filter(({ name }) => parts === undefined || parts.includes(name))) {
      await delay(LOAD_MS);
      const death = await killUnderLoad(world, clients, part);
      deaths.push(death);
      tell(
        `${part.name}: next write after ${seconds(death.writtenAfterMs)}, whole after ${seconds(death.wholeAfterMs)}`,
      );
    }
    await delay(LOAD_MS);
    const backup = hasRestore ? await backUpUnderLoad(world, clients) : undefined;
    await clients.stop();
    await clients.destroyAll();
    tell("The load has ended; comparing what was acknowledged with what is there…");
    const problems = await auditAll(world, clients);
    const audit = await world.audit();
    if (!audit.isClean) problems.push(`the audit of the books says: ${audit.words}`);
    const acknowledged = clients.acknowledged();
    const restore = backup === undefined ? undefined : await restoreAndCompare(world, backup);
    return {
      deaths,
      restore,
      acknowledged,
      auditWords: audit.words.split("\n").at(-1) ?? "",
      problems: [...problems, ...clients.wrongAnswers, ...(restore?.problems ?? [])],
    };
  } finally {
    await clients.abandon();
    await world.close();
  }
}

async function killUnderLoad(world: DrillWorld, clients: CrashClients, part: Part): Promise<Death> {
  const wrongBefore = clients.wrongAnswers.length;
  const startMs = performance.now();
  await part.kill(world);
  const written = clients.nextWritten();
  await part.mend(world);
  const wholeAfterMs = performance.now() - startMs;
  const writtenAfterMs = (await written) - startMs;
  return { part: part.name, writtenAfterMs, wholeAfterMs, wrongAnswerCount: clients.wrongAnswers.length - wrongBefore };
}

async function auditAll(world: DrillWorld, clients: CrashClients): Promise<string[]> {
  const problems: string[] = [];
  await untilSettled(world).catch((error: unknown) => problems.push(String(error)));
  problems.push(...(await auditLedger(world)), ...(await auditLines(world)));
  problems.push(...(await auditAcknowledged(world, clients)), ...(await auditCredit(world, clients)));
  return problems;
}

type TakenBackup = { readonly backup: Awaited<ReturnType<typeof takeBackup>>; readonly rentals: readonly number[] };

/** Rentals that were acknowledged before the backup began must be in it. */
async function backUpUnderLoad(world: DrillWorld, clients: CrashClients): Promise<TakenBackup> {
  const rentals = clients.done("rent").map(({ id }) => id);
  return { backup: await takeBackup(world.patroni), rentals };
}

async function restoreAndCompare(world: DrillWorld, { backup, rentals }: TakenBackup): Promise<Restore> {
  const secretFile = path.join(world.servers[0]?.berth.dataDir ?? "", "secret");
  const databaseUrl = world.patroni.url;
  await world.stopServers();
  const startMs = performance.now();
  const restored = await restoreBackup(backup, { secretFile, databaseUrl, query: "select id from instances" });
  const there = new Set(restored.rows.map(({ id }) => Number(id)));
  const lost = rentals.filter((id) => !there.has(id));
  const problems = [
    ...(lost.length === 0 ? [] : [`rentals of before the backup that are not in it: ${lost.join(", ")}`]),
    ...(restored.isClean ? [] : [`the restored books: ${restored.auditWords}`]),
  ];
  return { tookMs: performance.now() - startMs, acknowledged: rentals.length, problems };
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
