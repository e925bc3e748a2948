import type { ObservedInstance, ObservedVolume } from "../../../../../../protocol/index.ts";
import { asId, type InstanceId, type MachineId, type ServerId } from "../../../../base/ids.ts";
import type { Clock } from "../../../../base/clock.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { leaseEnd, lockHeardMachines, reclaimConnections, touchMachines } from "../../../supply/hosts/for-instances.ts";
import type { GpuUse, HeardMachine, ReceivedReport } from "../../../supply/hosts/for-instances.ts";
import { recordVolumes } from "../../../supply/volumes/for-instances.ts";
import { raiseCounters } from "../counting/counting-service.ts";
import { recordHealth } from "./device-health.ts";
import type { LifecycleEvent } from "./rules/lifecycle.ts";
import type { Instance } from "../instance.ts";
import { noteNotRunning } from "../evidence/evidence-store.ts";
import { eventOf } from "./rules/observation.ts";
import { recordStarts } from "./start-record-service.ts";
import { lockInstances, updateObservations } from "../store.ts";
import { applyHappenings } from "./transitions.ts";

const REPORTS_PER_BATCH = 200;
/**
 * How long a server gathers reports without news, which is short beside the seconds between two reports of a machine.
 */
export const GATHER_MS = 100;

type Arrived = { readonly machineId: MachineId; readonly received: ReceivedReport };
type Sighting = {
  readonly machineId: MachineId;
  readonly seen: ObservedInstance;
  readonly isObeyed: boolean;
  readonly gpuUse: GpuUse | undefined;
  readonly at: Date;
};

/** The settings of storing reports: the heartbeat lease that each renews, and the wait of those without news. */
export type Recording = {
  readonly leaseMs: number;
  readonly gatherMs: number;
  /** The server that has the connections on which the reports arrive. */
  readonly serverId: () => ServerId | undefined;
};

/**
 * Stores the hosts' reports, those of many hosts in one transaction when they arrive together. News is stored at once.
 * Of thousands of machines hundreds each second repeat their last report: these are gathered, since a transaction for
 * each would cost several times as much as all that is stored.
 */
export class ReportRecorder {
  readonly #news: MicroBatcher<Arrived, boolean>;
  readonly #repeats: MicroBatcher<Arrived, boolean>;

  constructor(database: Database, clock: Clock, recording: Recording) {
    const { gatherMs } = recording;
    const options = {
      maxBatch: REPORTS_PER_BATCH,
      run: async (batch: readonly Arrived[]) => {
        const stored = await withTransaction(database, clock, (tx) => record(tx, batch, recording));
        return batch.map((arrived) => stored.has(arrived));
      },
    };
    this.#news = new MicroBatcher(options);
    this.#repeats = new MicroBatcher(gatherMs === 0 ? options : { ...options, gather: () => clock.sleep(gatherMs) });
  }

  /**
   * Stores a report. Reports of one machine are submitted one after the other, each when the one before it is stored.
   * False when the machine has a newer connection than that of the report, which is then not stored.
   */
  async submit(machineId: MachineId, received: ReceivedReport): Promise<boolean> {
    const isNews = !received.isRepeat || received.isHealthNews;
    return (isNews ? this.#news : this.#repeats).submit({ machineId, received });
  }

  async idle(): Promise<void> {
    await Promise.all([this.#news.idle(), this.#repeats.idle()]);
  }
}

/** Stores reports, except those of connections that are not their machines' newest, and returns the stored ones. */
async function record(
  tx: Tx,
  all: readonly Arrived[],
  { leaseMs, serverId }: Recording,
): Promise<ReadonlySet<Arrived>> {
  const known = await lockHeardMachines(tx, [...new Set(all.map(({ machineId }) => machineId))]);
  const batch = all.filter(({ machineId, received }) => known.get(machineId)?.sessionNumber === received.sessionNumber);
  const heard = heardIn(batch);
  const machineIds = heard.map(({ machineId }) => machineId).toSorted((a, b) => a - b);
  // Another server had taken this one for dead and the machine for disconnected; the machine reports, so it is
  // connected and charged for.
  const isAway = ({ machineId }: Arrived) => known.get(machineId)?.isConnected === false;
  const away = batch.filter(isAway).map(({ machineId, received: { sessionNumber } }) => ({ machineId, sessionNumber }));
  await reclaimConnections(tx, away, { serverId: serverId(), leaseMs });
  await touchMachines(tx, heard, leaseEnd(tx.now, leaseMs));
  // The last count of an ended run may come along with the present one: each generation has its own.
  const counted = newestBy(
    batch.filter(({ received }) => received.isCountNews),
    ({ machineId, seen }) => `${machineId} ${seen.instance_id} ${seen.generation}`,
  );
  await raiseCounters(tx, counted);
  // Health comes before devices are freed, so that a sick device is not given to the next claim.
  const health = batch.filter(({ received }) => received.isHealthNews);
  await recordHealth(
    tx,
    health.map(({ machineId, received }) => ({ machineId, gpus: received.report.gpus })),
  );
  await recordVolumes(tx, volumesIn(batch));
  // A heartbeat that repeats the last report needs no look at any instance.
  await recordNews(tx, sightingsIn(batch.filter(({ received }) => !received.isRepeat)), machineIds);
  return new Set(batch);
}

async function recordNews(tx: Tx, sightings: readonly Sighting[], machineIds: readonly MachineId[]): Promise<void> {
  const ids = new Set(sightings.map(({ seen }) => asId<InstanceId>(seen.instance_id)));
  const locked = new Map((await lockInstances(tx, [...ids], { on: machineIds })).map((one) => [one.id, one]));
  // A host may only report on instances on its machines.
  const known = sightings.flatMap((sighting) => {
    const instance = locked.get(asId<InstanceId>(sighting.seen.instance_id));
    return instance?.machineId === sighting.machineId ? [{ ...sighting, instance }] : [];
  });
  const own = await catchUp(tx, known);
  await updateObservations(
    tx,
    own.map(({ seen }) => seen),
  );
  await noteNotRunning(
    tx,
    own
      .filter(({ seen }) => NOT_RUNNING.has(seen.state))
      .map(({ instance: { id }, seen, at }) => ({ instanceId: id, generation: seen.generation, at })),
  );
  await recordStarts(tx, own);
  const happenings = own.flatMap(({ instance, seen, isObeyed, machineId }) => {
    const event = eventOf(seen, instance, isObeyed);
    if (event === undefined) return [];
    return [{ instance, event, actor: `host:${machineId}`, cause: CAUSES[event] ?? event }];
  });
  await applyHappenings(tx, happenings);
}

type OwnSighting = Sighting & { readonly instance: Instance };

/** The highest generation that is believed of a host: no instance is started as often. */
const GENERATION_MAX = 1_000_000;

/**
 * Takes over the generations of hosts that have newer runs than the database, which is possible only while a restore to an
 * earlier state is fresh. Such a host would take every order for one of the past. A host that lies about it gets nothing but a new
 * run, which it could have by reporting that the instance is gone.
 */
async function catchUp(tx: Tx, sightings: readonly OwnSighting[]): Promise<readonly OwnSighting[]> {
  const ahead = sightings.filter(
    ({ seen, instance: { generation, newerRunsUntilAt } }) =>
      seen.generation > generation &&
      seen.generation <= GENERATION_MAX &&
      newerRunsUntilAt !== undefined &&
      newerRunsUntilAt > tx.now,
  );
  if (ahead.length === 0) return sightings;
  await applyHappenings(
    tx,
    ahead.map(({ instance, seen, machineId }) => ({
      instance,
      event: "hostAhead" as const,
      actor: `host:${machineId}` as const,
      cause: "host_ahead",
      hostGeneration: seen.generation,
    })),
  );
  const moved = await lockInstances(
    tx,
    ahead.map(({ instance }) => instance.id),
  );
  const now = new Map(moved.map((instance) => [instance.id, instance]));
  return sightings.map((sighting) => ({ ...sighting, instance: now.get(sighting.instance.id) ?? sighting.instance }));
}

/** States in which a host reports that a run has not begun. */
const NOT_RUNNING: ReadonlySet<string> = new Set(["absent", "pulling", "created"]);

const CAUSES: Partial<Record<LifecycleEvent, string>> = {
  containerRunning: "container_running",
  containerStopped: "container_stopped",
  containerAbsent: "container_removed",
};

/** The time at which each host was heard last: reports of one machine arrive in order. */
function heardIn(arrived: readonly Arrived[]): readonly HeardMachine[] {
  const heardAt = new Map(arrived.map(({ machineId, received }) => [machineId, received.receivedAt]));
  return [...heardAt].map(([machineId, at]) => ({ machineId, heardAt: at }));
}

/** The newest report of each host on each volume. */
function volumesIn(arrived: readonly Arrived[]) {
  const newest = new Map<string, { readonly machineId: MachineId; readonly seen: ObservedVolume }>();
  for (const { machineId, received } of arrived) {
    for (const seen of received.report.volumes) newest.set(`${machineId} ${seen.volume_id}`, { machineId, seen });
  }
  return [...newest.values()];
}

/** The newest report of each host on each instance: reports of one machine arrive in order. */
function sightingsIn(arrived: readonly Arrived[]): readonly Sighting[] {
  return newestBy(arrived, ({ machineId, seen }) => `${machineId} ${seen.instance_id}`);
}

function newestBy(arrived: readonly Arrived[], keyOf: (sighting: Sighting) => string): readonly Sighting[] {
  const newest = new Map<string, Sighting>();
  for (const { machineId, received } of arrived) {
    for (const seen of received.report.instances) {
      const { instance_id: id } = seen;
      const [isObeyed, gpuUse] = [received.obeyed.has(id), received.gpuUse.get(id)];
      const sighting = { machineId, seen, isObeyed, gpuUse, at: received.receivedAt };
      newest.set(keyOf(sighting), sighting);
    }
  }
  return [...newest.values()];
}
