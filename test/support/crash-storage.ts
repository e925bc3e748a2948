// What was stored against what was charged for it, by what the engines and the clients saw.
import type { Asked, CrashClients } from "./crash-clients.ts";
import { absentMs, REPORT_MS, TOLERANCE_MS } from "./crash-runs.ts";
import type { CrashWorld, EngineEvidence, Outage } from "./crash-world.ts";
import type { EngineRun } from "./lasting-engine.ts";

/** One report may wait for a database that comes back, or not reach a server that ends: the next one has told. */
const TOLD_AFTER_MS = 2 * REPORT_MS;

/** Something that was stored at the least, and at the most, for so long. */
type Stored = {
  readonly name: string;
  readonly chargedMs: number;
  readonly surely: Stretch;
  readonly perhaps: Stretch;
  /** What is known of it, for who has to find out. */
  readonly facts: string;
};
type Stretch = { readonly fromMs: number; readonly toMs: number };

/**
 * A disk is charged from the first start of its container to the request to destroy it, a volume from its rental to the
 * request to delete it: never longer, and shorter only by absences that may have been longer than a lease, by one report,
 * before which nobody knew of the start, and by what came before a start that somebody saw: one that went with the power
 * may have been seen by nobody, unless its host was connected for long enough to tell.
 */
export async function auditStorage(world: CrashWorld, clients: CrashClients): Promise<readonly string[]> {
  const engines = world.engines();
  const charged = await chargedDisks(world);
  const stored = [...disksOf(engines, clients, charged), ...volumesOf(clients, charged)];
  return stored.flatMap(({ name, chargedMs, surely, perhaps, facts }): readonly string[] => {
    const most = perhaps.toMs - perhaps.fromMs + TOLERANCE_MS;
    const absent = Math.max(...engines.map(({ outages }) => absentMs(outages, surely)));
    const least = surely.toMs - surely.fromMs - absent - REPORT_MS;
    if (chargedMs <= most && chargedMs >= least) return [];
    const asked = `its end was asked for at ${surely.toMs} and acknowledged at ${perhaps.toMs}`;
    return [`${name} was stored for ${least} to ${most} ms and charged for ${chargedMs}; ${asked}; ${facts}`];
  });
}

async function chargedDisks(world: CrashWorld): Promise<ReadonlyMap<string, number>> {
  const rows = await world.berth.sql(
    `select coalesce('instance ' || instance_id, 'volume ' || volume_id) as name, sum(quantity)::float8 as ms
     from charge_lines where component = 'disk' group by 1`,
  );
  return new Map(rows.map((row) => [String(row["name"]), Number(row["ms"])]));
}

function disksOf(
  engines: readonly EngineEvidence[],
  clients: CrashClients,
  charged: ReadonlyMap<string, number>,
): readonly Stored[] {
  const all = engines.flatMap(({ runs, outages }) => runs.map((run) => ({ ...run, wasSeen: wasSeen(run, outages) })));
  const runsOf = Map.groupBy(all, (run) => Number(/^berth-(\d+)-/.exec(run.name)?.[1]));
  return clients.done("destroy").map((end): Stored => {
    const runs = runsOf.get(end.id) ?? [];
    const first = (some: readonly EngineRun[]) => Math.min(...some.map((run) => run.started_at_ms));
    const from = { surelyFromMs: first(runs.filter((run) => run.wasSeen)), perhapsFromMs: first(runs) };
    return storedOf(`instance ${end.id}`, charged, { end, ...from, facts: `its runs: ${JSON.stringify(runs)}` });
  });
}

function wasSeen({ was_lost, started_at_ms, finished_at_ms }: EngineRun, outages: readonly Outage[]): boolean {
  if (was_lost !== true) return true;
  const endMs = finished_at_ms ?? started_at_ms;
  const apartMs = outages.reduce(
    (sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(toMs, endMs) - Math.max(fromMs, started_at_ms)),
    0,
  );
  return endMs - started_at_ms - apartMs > TOLD_AFTER_MS;
}

function volumesOf(clients: CrashClients, charged: ReadonlyMap<string, number>): readonly Stored[] {
  const rented = new Map(clients.done("volume").map((one) => [one.id, one]));
  return clients.done("delete volume").flatMap((end): readonly Stored[] => {
    const begin = rented.get(end.id);
    if (begin === undefined) return [];
    const from = { surelyFromMs: begin.answeredAtMs, perhapsFromMs: begin.sentAtMs };
    return [storedOf(`volume ${end.id}`, charged, { end, ...from, facts: `rented by ${begin.key}` })];
  });
}

/** What never began has stretches of no length. */
function storedOf(
  name: string,
  charged: ReadonlyMap<string, number>,
  {
    end,
    surelyFromMs,
    perhapsFromMs,
    facts,
  }: { end: Asked; surelyFromMs: number; perhapsFromMs: number; facts: string },
): Stored {
  return {
    name,
    chargedMs: charged.get(name) ?? 0,
    surely: { fromMs: Math.min(surelyFromMs, end.sentAtMs), toMs: end.sentAtMs },
    perhaps: { fromMs: Math.min(perhapsFromMs, end.answeredAtMs), toMs: end.answeredAtMs },
    facts,
  };
}
