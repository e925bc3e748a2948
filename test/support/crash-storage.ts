// What was stored against what was charged for it, by what the engines and the clients saw.
import type { Asked, CrashClients } from "./crash-clients.ts";
import { absentMs, REPORT_MS, TOLERANCE_MS } from "./crash-runs.ts";
import type { CrashWorld, EngineEvidence } from "./crash-world.ts";

/** Something that was stored at the least, and at the most, for so long. */
type Stored = {
  readonly name: string;
  readonly chargedMs: number;
  readonly surely: Stretch;
  readonly perhaps: Stretch;
};
type Stretch = { readonly fromMs: number; readonly toMs: number };

/**
 * A disk is charged from the first start of its container to the request to destroy it, a volume from its rental to the
 * request to delete it: never longer, and shorter only by absences that may have been longer than a lease, and by one
 * report, before which nobody knew of the start.
 */
export async function auditStorage(world: CrashWorld, clients: CrashClients): Promise<readonly string[]> {
  const engines = world.engines();
  const charged = await chargedDisks(world);
  const stored = [...disksOf(engines, clients, charged), ...volumesOf(clients, charged)];
  return stored.flatMap(({ name, chargedMs, surely, perhaps }): readonly string[] => {
    const most = perhaps.toMs - perhaps.fromMs + TOLERANCE_MS;
    const absent = Math.max(...engines.map(({ outages }) => absentMs(outages, surely)));
    const least = surely.toMs - surely.fromMs - absent - REPORT_MS;
    if (chargedMs <= most && chargedMs >= least) return [];
    return [`${name} was stored for ${least} to ${most} ms and charged for ${chargedMs}`];
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
  const firstStartMs = new Map<number, number>();
  for (const run of engines.flatMap(({ runs }) => runs)) {
    const id = Number(/^berth-(\d+)-/.exec(run.name)?.[1]);
    firstStartMs.set(id, Math.min(run.started_at_ms, firstStartMs.get(id) ?? Infinity));
  }
  return clients.done("destroy").map((end): Stored => {
    const fromMs = firstStartMs.get(end.id) ?? Infinity;
    return storedOf(`instance ${end.id}`, charged, { end, surelyFromMs: fromMs, perhapsFromMs: fromMs });
  });
}

function volumesOf(clients: CrashClients, charged: ReadonlyMap<string, number>): readonly Stored[] {
  const rented = new Map(clients.done("volume").map((one) => [one.id, one]));
  return clients.done("delete volume").flatMap((end): readonly Stored[] => {
    const begin = rented.get(end.id);
    if (begin === undefined) return [];
    const from = { surelyFromMs: begin.answeredAtMs, perhapsFromMs: begin.sentAtMs };
    return [storedOf(`volume ${end.id}`, charged, { end, ...from })];
  });
}

/** What never began has stretches of no length. */
function storedOf(
  name: string,
  charged: ReadonlyMap<string, number>,
  { end, surelyFromMs, perhapsFromMs }: { end: Asked; surelyFromMs: number; perhapsFromMs: number },
): Stored {
  return {
    name,
    chargedMs: charged.get(name) ?? 0,
    surely: { fromMs: Math.min(surelyFromMs, end.sentAtMs), toMs: end.sentAtMs },
    perhaps: { fromMs: Math.min(perhapsFromMs, end.answeredAtMs), toMs: end.answeredAtMs },
  };
}
