import type { MachineId } from "../../../../base/ids.ts";
import { ZERO } from "../../../../base/money.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { listScheduledMachines, type ScheduledMachine } from "../../../supply/hosts/index.ts";
import { freeDiskBytes, refreshOffers } from "../../../supply/market/index.ts";
import { insertUsedOffer } from "../../../supply/market/for-instances.ts";
import { resolveLaunch, type LaunchSettings } from "../../templates/index.ts";
import { countBackground, listBackground, takeIds } from "./background-store.ts";
import type { Actor } from "../instance.ts";
import { destroyInstances } from "./rental-service.ts";
import { decryptSettings, encryptSettings } from "../settings/encrypted-settings.ts";
import { insertInstances, type NewInstance } from "../store.ts";
import { reschedule } from "../lifecycle/transitions.ts";

/** The job that a host runs on the devices of its machine that nobody rents. */
type BackgroundJob = { readonly image: string; readonly args: readonly string[] };

type Change = { readonly kept: number; readonly created: number; readonly removed: number };

const BYTES_PER_GB = 1_000_000_000;
/** A bound, so that a machine of very many cores is not filled with containers. */
const PER_MACHINE_MAX = 64;
/** A background instance lasts until it is removed. */
const NEVER = new Date("9999-12-31T00:00:00Z");

/**
 * Keeps one background instance for each device of a machine, as far as its disk has room for them. They are claims
 * below every bid: the schedule runs them on idle devices, and takes these away without an eviction notice for any
 * renter. They cost nothing and no credit is set aside for them. The caller holds the machine's lock.
 */
export async function keepBackground(
  tx: Tx,
  {
    machineId,
    job,
    actor,
    encryption,
  }: {
    readonly machineId: MachineId;
    readonly job: BackgroundJob;
    readonly actor: Actor;
    readonly encryption: Encryption;
  },
): Promise<Change> {
  const launch = resolveLaunch(undefined, { ...job, args: [...job.args], runtype: "args", label: "default job" });
  const machine = (await listScheduledMachines(tx.db, [machineId])).get(machineId);
  if (machine === undefined) return { kept: 0, created: 0, removed: 0 };
  const existing = await listBackground(tx, machineId);
  const wanted = wantedCount(machine.presentCount);
  const kept = existing.filter((one) => isSameJob(decryptSettings(one, encryption), launch)).slice(0, wanted);
  const keptIds = new Set(kept.map(({ id }) => id));
  const surplus = existing.flatMap(({ id }) => (keptIds.has(id) ? [] : [id]));
  const removed = await destroyInstances(tx, surplus, { actor, cause: "default_job_changed" });
  const diskBytes = BigInt(launch.disk_gb * BYTES_PER_GB);
  const room = Number(freeDiskBytes({ machine }) / diskBytes);
  const created = Math.min(wanted - kept.length, room);
  if (created > 0) {
    await insertBackground(tx, { machine, launch, diskBytes, count: created, actor, encryption });
    await reschedule(tx, [machineId]);
    // The disk of each background instance is subtracted from the machine's offers.
    await refreshOffers(tx, [machineId]);
  }
  return { kept: kept.length, created, removed };
}

/** Ends all background instances of a machine and returns their number. The caller holds the machine's lock. */
export async function removeBackground(tx: Tx, machineId: MachineId, actor: Actor): Promise<number> {
  const ids = (await listBackground(tx, machineId)).map(({ id }) => id);
  return destroyInstances(tx, ids, { actor, cause: "default_job_removed" });
}

/** The machines among these whose number of background instances differs from that of a default job. */
export async function listOutOfStep(db: Reader, machineIds: readonly MachineId[]): Promise<readonly MachineId[]> {
  const machines = await listScheduledMachines(db, machineIds);
  const counts = await countBackground(db, machineIds);
  return [...machines.values()].flatMap(({ id, presentCount }) =>
    (counts.get(id) ?? 0) === wantedCount(presentCount) ? [] : [id],
  );
}

function wantedCount(presentCount: number): number {
  return Math.min(presentCount, PER_MACHINE_MAX);
}

function isSameJob(one: LaunchSettings, other: LaunchSettings): boolean {
  return one.image === other.image && JSON.stringify(one.image_args) === JSON.stringify(other.image_args);
}

async function insertBackground(
  tx: Tx,
  {
    machine,
    launch,
    diskBytes,
    count,
    actor,
    encryption,
  }: {
    readonly machine: ScheduledMachine;
    readonly launch: LaunchSettings;
    readonly diskBytes: bigint;
    readonly count: number;
    readonly actor: Actor;
    readonly encryption: Encryption;
  },
): Promise<void> {
  const ids = await takeIds(tx, count);
  const offerId = await insertUsedOffer(tx, machine.id, 1);
  const instances = ids.map((id): NewInstance => ({
    id,
    userId: machine.hostId,
    machineId: machine.id,
    offerId,
    templateId: undefined,
    templateHashId: undefined,
    label: launch.label ?? undefined,
    isBid: true,
    isBackground: true,
    priceNanosPerHour: ZERO,
    storageNanosPerGbMonth: ZERO,
    inetUpNanosPerGb: ZERO,
    inetDownNanosPerGb: ZERO,
    deviceCount: 1,
    diskBytes,
    launch: encryptSettings(launch, id, encryption),
    desired: "running",
    phase: "scheduled",
    phaseCause: "created",
    generation: 0,
    revision: 0,
    holdId: undefined,
    capScopes: [],
    endAt: NEVER,
  }));
  await insertInstances(tx, instances, () => actor);
}
