import type { ObservedInstance } from "../../../../../../protocol/index.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { coveredParts, listHostIds, listSpans, type MachineSpans } from "../../../supply/hosts/index.ts";
import {
  flagHost,
  lengthMs,
  listUplinks,
  type GpuUse,
  type Uplink,
  type UnstoredCounters,
} from "../../../supply/hosts/for-instances.ts";
import { makeDue, startMetering } from "../../../money/tabs/index.ts";
import { contradictionsOf, type Contradiction } from "../evidence/contradictions.ts";
import { countRun, type Allowance, type Said } from "../rules/counting.ts";
import { countableMs } from "../evidence/start-evidence.ts";
import type { MovedBytes } from "../traffic/machine-traffic-store.ts";
import { watchMachineTraffic, type UplinkRate } from "../traffic/machine-traffic.ts";
import { listSpokenRuns, storeCounters, type SpokenRun, type RaisedRun, type Usage } from "./run-store.ts";

/** A host's report on one run. */
export type Counted = {
  readonly machineId: MachineId;
  readonly seen: Pick<ObservedInstance, "instance_id" | "generation" | "state" | "counters" | "usage">;
  readonly gpuUse: GpuUse | undefined;
  /** The time at which the report arrived. */
  readonly at: Date;
};

/** The highest speed that is believed of an uplink, in Mbit/s; also the speed of an uplink of unknown speed. */
const MBPS_MAX = 100_000;
/** An uplink carries more at times than was declared. */
const UPLINK_SLACK = 2;
const BYTES_PER_MS_AND_MBPS = 125;
/** Traffic that may wait for the next settlement; more is charged at once. */
const UNCHARGED_BYTES_MAX = 1_000_000_000n;

/**
 * Raises the counters of runs (`countRun`), up to the end of the rental, of the run, and of the time in which the
 * machine was seen. A run that is now proven to run is charged from that moment on, and a run that is due sooner than
 * planned is settled now. The caller holds the locks of the machines, and has noted their heartbeats.
 */
export async function raiseCounters(tx: Tx, counted: readonly Counted[]): Promise<void> {
  if (counted.length === 0) return;
  const saidOf = new Map(counted.map((one) => [keyOf(one.machineId, one.seen.instance_id, one.seen.generation), one]));
  const runs = await listSpokenRuns(
    tx,
    counted.map(({ machineId, seen }) => ({ machineId, instanceId: seen.instance_id, generation: seen.generation })),
  );
  const proofs = await readProofs(tx, runs);
  const endOf = new Map<number, Date>();
  const contradictions: Contradiction[] = [];
  const raised = runs.flatMap((run): readonly Raised[] => {
    const one = saidOf.get(keyOf(run.machineId, run.instanceId, run.generation));
    if (one === undefined) return [];
    const said = saidIn(one);
    const previousEndAt = latest([endOf.get(run.instanceId), run.previousEndAt]);
    const allowance = { ...allowanceOf(run, said.at, proofs), previousEndAt };
    contradictions.push(...contradictionsOf(run, { ...said, byClock: tx.clockId }, allowance));
    const after = countRun(run, said, allowance);
    const endAt = countedUntil(after);
    if (endAt !== undefined) endOf.set(run.instanceId, latest([endAt, previousEndAt]) ?? endAt);
    return [{ before: run, after: { ...run, ...after, isRunning: said.isRunning, usage: usageOf(one), at: said.at } }];
  });
  await storeCounters(
    tx,
    raised.map(({ after }) => after),
  );
  await startMetering(tx, raised.flatMap(firstProof));
  const together = await watchMachineTraffic(tx, movedIn(raised), (id) => rateOf(proofs.uplinks.get(id)));
  await flagContradictions(tx, [...contradictions, ...together]);
  await makeDue(tx, [...new Set(raised.filter(isDueNow).map(({ before }) => before.instanceId))]);
}

/** Flags the hosts whose reports cannot be true. */
export async function flagContradictions(tx: Tx, contradictions: readonly Contradiction[]): Promise<void> {
  if (contradictions.length === 0) return;
  const hostIds = await listHostIds(tx.db, [...new Set(contradictions.map(({ machineId }) => machineId))]);
  for (const { machineId, ...flag } of contradictions) {
    const hostId = hostIds.get(machineId);
    if (hostId !== undefined) await flagHost(tx, { hostId, machineId, ...flag });
  }
}

/** Stores the last reports of machines that disconnected, which had waited to be stored with the next ones. */
export async function storeLastCounters(
  tx: Tx,
  departures: readonly { readonly machineId: MachineId; readonly unstored: UnstoredCounters | undefined }[],
): Promise<void> {
  const counted = departures.flatMap(({ machineId, unstored }) =>
    (unstored?.instances ?? []).map((seen): Counted => ({
      machineId,
      seen: { ...seen, usage: null },
      gpuUse: undefined,
      at: unstored?.at ?? tx.now,
    })),
  );
  await raiseCounters(tx, counted);
}

type Raised = {
  readonly before: SpokenRun;
  readonly after: RaisedRun & Pick<Said, "isRunning" | "at">;
};
type Proofs = {
  readonly spans: ReadonlyMap<MachineId, MachineSpans>;
  readonly uplinks: ReadonlyMap<MachineId, Uplink>;
};

async function readProofs(tx: Tx, runs: readonly SpokenRun[]): Promise<Proofs> {
  const machineIds = [...new Set(runs.map((run) => run.machineId))];
  const from = Math.min(...runs.map((run) => run.lastCountedAt.getTime()), tx.now.getTime());
  const [spans, uplinks] = [await listSpans(tx.db, machineIds, new Date(from)), await listUplinks(tx.db, machineIds)];
  return { spans, uplinks };
}

function allowanceOf(run: SpokenRun, at: Date, { spans, uplinks }: Proofs): Omit<Allowance, "previousEndAt"> {
  const own = spans.get(run.machineId) ?? { spans: [], lastSeenAt: at };
  const to = earliest([at, run.endAt, run.closedAt, run.nextMeteredFromAt, run.chargeableUntilAt]);
  const covered = coveredParts(own.spans, own.lastSeenAt, { from: run.lastCountedAt, to });
  const uplink = uplinks.get(run.machineId);
  return {
    coveredMs: lengthMs(covered),
    nextMeteredFromAt: run.nextMeteredFromAt,
    chargeableUntilAt: run.chargeableUntilAt,
    notBefore: run.notRunningAt,
    countableMs: countableMs(run, at),
    ...rateOf(uplink),
  };
}

/** The believed speed of an uplink: more than was declared, because uplinks carry more at times. */
export function rateOf(uplink: Uplink | undefined): UplinkRate {
  return { receivedBytesPerMs: bytesPerMs(uplink?.downMbps), sentBytesPerMs: bytesPerMs(uplink?.upMbps) };
}

/** The bytes newly reported for each machine; machines without any are left out. */
function movedIn(raised: readonly Raised[]): ReadonlyMap<MachineId, MovedBytes> {
  const moved = new Map<MachineId, MovedBytes>();
  for (const { before, after } of raised) {
    const receivedBytes = after.heardReceivedBytes - before.heardReceivedBytes;
    const sentBytes = after.heardSentBytes - before.heardSentBytes;
    if (receivedBytes + sentBytes === 0n) continue;
    const sum = moved.get(before.machineId) ?? { receivedBytes: 0n, sentBytes: 0n };
    moved.set(before.machineId, {
      receivedBytes: sum.receivedBytes + receivedBytes,
      sentBytes: sum.sentBytes + sentBytes,
    });
  }
  return moved;
}

/** The time at which the counted part of a run ends. */
function countedUntil({ meteredFromAt, runningMs }: Pick<SpokenRun, "meteredFromAt" | "runningMs">): Date | undefined {
  return meteredFromAt && new Date(meteredFromAt.getTime() + Number(runningMs));
}

function bytesPerMs(mbps: number | undefined): number {
  const carried = mbps === undefined || mbps === 0 ? MBPS_MAX : Math.min(MBPS_MAX, mbps * UPLINK_SLACK);
  return carried * BYTES_PER_MS_AND_MBPS;
}

function saidIn({ seen: { counters, state }, at }: Counted): Said {
  return {
    runningMs: BigInt(counters.running_ms),
    receivedBytes: BigInt(counters.received_bytes),
    sentBytes: BigInt(counters.sent_bytes),
    isRunning: state === "running",
    at,
  };
}

function usageOf({ seen: { state, usage }, gpuUse }: Counted): Usage | undefined {
  if (state !== "running" || (usage === null && gpuUse === undefined)) return undefined;
  return {
    cpuPercent: usage?.cpu_percent,
    memoryBytes: usage?.memory_bytes,
    diskBytes: usage?.disk_bytes,
    ipAddress: usage?.ip_address,
    gpuPercent: gpuUse?.percent,
    gpuTemperatureC: gpuUse?.temperatureC,
    gpuMemoryMb: gpuUse?.memoryMb,
  };
}

/** The first proof of a run, with the time from which it is metered; empty for a run proven before, or not yet. */
function firstProof({ before, after }: Raised) {
  const isFirst = before.meteredFromAt === undefined && after.meteredFromAt !== undefined;
  return isFirst ? [{ instanceId: before.instanceId, at: after.meteredFromAt ?? after.at }] : [];
}

/** True for a run that is over, and for priced traffic of more than `UNCHARGED_BYTES_MAX` that is not charged yet. */
function isDueNow({ before, after }: Raised): boolean {
  const bytes = after.receivedBytes + after.sentBytes;
  const isRaised = after.runningMs > before.runningMs || bytes > before.receivedBytes + before.sentBytes;
  const isOver = !after.isRunning || before.generation < before.presentGeneration || before.isInstanceOver;
  const isMuch = before.isTrafficPriced && bytes - before.chargedBytes > UNCHARGED_BYTES_MAX;
  return isRaised && (isOver || isMuch);
}

function earliest(times: readonly (Date | undefined)[]): Date {
  return new Date(Math.min(...times.flatMap((time) => (time === undefined ? [] : [time.getTime()]))));
}

function latest(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.flatMap((time) => (time === undefined ? [] : [time.getTime()]));
  return known.length === 0 ? undefined : new Date(Math.max(...known));
}

function keyOf(machineId: MachineId, instanceId: number, generation: number): string {
  return `${machineId} ${instanceId} ${generation}`;
}
