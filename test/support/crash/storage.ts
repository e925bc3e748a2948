// Stored bytes against their charges, by the evidence of the engines and the clients.
import type { Asked, CrashClients } from "./clients.ts";
import { absentMs, REPORT_MS, TOLERANCE_MS } from "./runs.ts";
import type { EngineEvidence, Stretch } from "./evidence.ts";
import type { CrashWorld } from "./world.ts";
import type { EngineRun } from "./lasting-engine.ts";

/** The fewest disks that are judged by their median: of fewer, half may have had bad luck. */
const USUAL_MIN = 10;
/**
 * The most that the median disk may lack: less than the time between two reports, and more than a report is on its way.
 */
const USUAL_MISSING_MS_MAX = 2_000;

/** Storage of a disk or volume: its shortest and its longest possible time. */
type Stored = {
  readonly name: string;
  readonly chargedMs: number;
  readonly surely: Stretch;
  readonly perhaps: Stretch;
  /** The time that need not be charged although nobody was absent. */
  readonly sparedMs: number;
  /** Known values of the disk or volume, for the reader of a failure. */
  readonly facts: string;
};

/**
 * A disk is charged from the first start of its container to the request to destroy it, a volume from its rental to the
 * request to delete it: never longer, and shorter only by absences that may have been longer than a lease and one report
 * before them; a disk also by one report, and by the time in which nobody had told of the start (`toldAtMs`).
 */
export async function auditStorage(world: CrashWorld, clients: CrashClients): Promise<readonly string[]> {
  const engines = world.engines();
  const charged = await chargedDisks(world);
  const [disks, volumes] = [disksOf(world, clients, charged), volumesOf(clients, charged)];
  const wrong = [...disks, ...volumes].flatMap(
    ({ name, chargedMs, surely, perhaps, sparedMs, facts }): readonly string[] => {
      const most = perhaps.toMs - perhaps.fromMs + TOLERANCE_MS;
      const absent = absentFrom(engines, surely);
      const least = surely.toMs - surely.fromMs - absent - (absent > 0 ? REPORT_MS : sparedMs);
      if (chargedMs <= most && chargedMs >= least) return [];
      const asked = `its end was asked for at ${surely.toMs} and acknowledged at ${perhaps.toMs}`;
      return [`${name} was stored for ${least} to ${most} ms and charged for ${chargedMs}; ${asked}; ${facts}`];
    },
  );
  return [...wrong, ...judgeUsual(disks, engines)];
}

/** The time of absences within the stretch, on the host with the longest ones. */
function absentFrom(engines: readonly EngineEvidence[], stretch: Stretch): number {
  return Math.max(...engines.map(({ absences }) => absentMs(absences, stretch)));
}

/** Judges the median: a cause other than absences excuses one disk, but not every disk. */
function judgeUsual(disks: readonly Stored[], engines: readonly EngineEvidence[]): readonly string[] {
  const missing = disks
    .map(({ chargedMs, surely, perhaps }) => ({ chargedMs, fromMs: perhaps.fromMs, toMs: surely.toMs }))
    .filter(({ fromMs, toMs }) => toMs > fromMs)
    .map((disk) => disk.toMs - disk.fromMs - absentFrom(engines, disk) - disk.chargedMs)
    .toSorted((a, b) => a - b);
  const median = missing[Math.floor((missing.length - 1) / 2)] ?? 0;
  if (missing.length < USUAL_MIN || median <= USUAL_MISSING_MS_MAX) return [];
  return [`of ${missing.length} disks half miss ${median} ms and more of what was stored`];
}

async function chargedDisks(world: CrashWorld): Promise<ReadonlyMap<string, number>> {
  const rows = await world.berth.sql(
    `select coalesce('instance ' || instance_id, 'volume ' || volume_id) as name, sum(quantity)::float8 as ms
     from charge_lines where component = 'disk' group by 1`,
  );
  return new Map(rows.map((row) => [String(row["name"]), Number(row["ms"])]));
}

function disksOf(world: CrashWorld, clients: CrashClients, charged: ReadonlyMap<string, number>): readonly Stored[] {
  const all = world
    .engines()
    .flatMap(({ runs, reports }) => runs.map((run) => ({ ...run, toldAtMs: toldAtMs(run, reports) })));
  const runsOf = Map.groupBy(all, (run) => Number(/^berth-(\d+)-/.exec(run.name)?.[1]));
  return clients.done("destroy").map((end): Stored => {
    const runs = runsOf.get(end.id) ?? [];
    const from = {
      surelyFromMs: Math.min(...runs.map((run) => run.toldAtMs)),
      perhapsFromMs: Math.min(...runs.map((run) => run.startedAtMs)),
    };
    return storedOf(`instance ${end.id}`, charged, {
      end,
      ...from,
      sparedMs: REPORT_MS,
      facts: `its runs: ${JSON.stringify(runs)}`,
    });
  });
}

/**
 * The latest time at which the server learned of a start: it has stored a report that was sent after the start. A run
 * that ended with the power before that may be unknown to the server.
 */
function toldAtMs({ startedAtMs, finishedAtMs, wasLost }: EngineRun, reports: readonly Stretch[]): number {
  const toldMs = reports.find(({ fromMs }) => fromMs > startedAtMs)?.toMs ?? Infinity;
  return wasLost === true && (finishedAtMs ?? startedAtMs) < toldMs ? Infinity : toldMs;
}

function volumesOf(clients: CrashClients, charged: ReadonlyMap<string, number>): readonly Stored[] {
  const rented = new Map(clients.done("volume").map((one) => [one.id, one]));
  return clients.done("delete volume").flatMap((end): readonly Stored[] => {
    const begin = rented.get(end.id);
    if (begin === undefined) return [];
    const from = { surelyFromMs: begin.answeredAtMs, perhapsFromMs: begin.sentAtMs };
    return [
      storedOf(`volume ${end.id}`, charged, { end, ...from, sparedMs: TOLERANCE_MS, facts: `rented by ${begin.key}` }),
    ];
  });
}

type Known = Pick<Stored, "sparedMs" | "facts"> & {
  readonly end: Asked;
  readonly surelyFromMs: number;
  readonly perhapsFromMs: number;
};

/** A disk or volume to judge. One that never began has stretches of no length. */
function storedOf(
  name: string,
  charged: ReadonlyMap<string, number>,
  { end, surelyFromMs, perhapsFromMs, ...known }: Known,
): Stored {
  return {
    name,
    chargedMs: charged.get(name) ?? 0,
    surely: { fromMs: Math.min(surelyFromMs, end.sentAtMs), toMs: end.sentAtMs },
    perhaps: { fromMs: Math.min(perhapsFromMs, end.answeredAtMs), toMs: end.answeredAtMs },
    ...known,
  };
}
