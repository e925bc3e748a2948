import { insufficientFunds, invalid } from "../../base/errors.ts";
import { parseId, type InstanceId, type UserId } from "../../base/ids.ts";
import { formatDollars, type Nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { deleteInstanceKeys } from "../accounts/index.ts";
import { listMachines, lockMachines } from "../hosts/index.ts";
import { placeHold } from "../ledger/index.ts";
import { refreshOffers, setLeasePrice } from "../market/index.ts";
import { detachVolumes } from "../volumes/index.ts";
import type { Actor, Instance } from "./instance.ts";
import type { LifecycleEvent } from "./lifecycle.ts";
import { holdAmount } from "./pricing.ts";
import {
  findInstance,
  findMachineOf,
  listInstancesOf,
  lockInstances,
  setHold,
  setLabel as storeLabel,
  setPrice,
} from "./store.ts";
import { applyHappenings, noSuchInstance, reschedule } from "./transitions.ts";
import { instanceRecord, type InstanceRecord } from "./views.ts";

export type InstanceRequest = { readonly userId: UserId; readonly instanceId: number; readonly actor: Actor };

/** How long a destroyed instance is still shown, as destroyed (operations.md §3.6). */
const TOMBSTONE_MS = 600_000;

/** Locks the caller's instance with its machine; to anybody else it does not exist. */
async function requireInstance(tx: Tx, { userId, instanceId }: InstanceRequest): Promise<Instance> {
  const id = toId(instanceId);
  const machineId = id && (await findMachineOf(tx.db, userId, id));
  if (id === undefined || machineId === undefined) throw noSuchInstance(instanceId);
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [id]);
  if (instance === undefined) throw noSuchInstance(instanceId);
  return instance;
}

function toId(instanceId: number): InstanceId | undefined {
  return parseId<InstanceId>(String(instanceId));
}

/** Wants it to run. It may have to wait for its devices, which is a success (operations.md §3.9). */
export async function startInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  let instance = await requireInstance(tx, request);
  if (instance.endAt <= tx.now && instance.phase === "stopped") {
    throw invalid("id", `Instance ${instance.id} reached its end date and cannot start again.`, "contract_ended");
  }
  if (instance.desired === "stopped" && instance.holdId === undefined) {
    const hold = await placeHold(tx, {
      userId: instance.userId,
      amount: holdAmount(instance),
      cause: { instance_id: instance.id },
    });
    if (hold.kind !== "placed") {
      const missing = formatDollars(hold.shortfallNanos);
      throw insufficientFunds(`Not enough credit to start instance ${instance.id}: ${missing} $ are missing.`, {
        extra: { shortfall: Number(missing) },
      });
    }
    await setHold(tx, instance.id, hold.holdId);
    instance = { ...instance, holdId: hold.holdId };
  }
  await apply(tx, instance, "startRequested", request.actor, "running");
}

/** Wants it stopped with its data kept. */
export async function stopInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  await apply(tx, await requireInstance(tx, request), "stopRequested", request.actor, "stopped");
}

/** Stops and starts the container in place; it keeps its devices. */
export async function rebootInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  await apply(tx, await requireInstance(tx, request), "rebootRequested", request.actor, "running");
}

/** Ends it for good: container and data go, its key dies at once. */
export async function destroyInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  await destroy(tx, await requireInstance(tx, request), request.actor, "destroy_requested");
}

/** The same for what another domain made, such as the workers of an endpoint group; one that is over is no error. */
export async function destroyIfPresent(
  tx: Tx,
  { userId, instanceId, actor, cause }: Omit<InstanceRequest, "instanceId"> & { instanceId: InstanceId; cause: string },
): Promise<"destroyed"> {
  const machineId = await findMachineOf(tx.db, userId, instanceId);
  if (machineId === undefined) return "destroyed";
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [instanceId]);
  if (instance !== undefined && instance.phase !== "ended") await destroy(tx, instance, actor, cause);
  return "destroyed";
}

async function destroy(tx: Tx, instance: Instance, actor: Actor, cause: string): Promise<void> {
  await applyHappenings(tx, [{ instance, event: "destroyRequested", actor, cause, desired: "destroyed" }]);
  await deleteInstanceKeys(tx, [instance.id]);
  await detachVolumes(tx, instance.id);
}

const CAUSES: Partial<Record<LifecycleEvent, string>> = {
  startRequested: "start_requested",
  stopRequested: "stop_requested",
  rebootRequested: "reboot",
};

async function apply(
  tx: Tx,
  instance: Instance,
  event: LifecycleEvent,
  actor: Actor,
  desired: Instance["desired"],
): Promise<void> {
  await applyHappenings(tx, [{ instance, event, actor, cause: CAUSES[event] ?? event, desired }]);
}

export async function setLabel(tx: Tx, request: InstanceRequest, label: string): Promise<void> {
  const instance = await requireInstance(tx, request);
  if (instance.phase === "ending" || instance.phase === "ended") throw noSuchInstance(instance.id);
  await storeLabel(tx, instance.id, label);
}

/** Changes the bid of an interruptible instance; the schedule follows at once (semantics.md §9.3 rule 4). */
export async function changeBid(tx: Tx, request: InstanceRequest, bidNanosPerHour: Nanos): Promise<void> {
  const instance = await requireInstance(tx, request);
  if (instance.phase === "ending" || instance.phase === "ended") throw noSuchInstance(instance.id);
  if (!instance.isBid) {
    throw invalid("id", `Instance ${instance.id} is not interruptible: it has a fixed price and no bid.`);
  }
  await setPrice(tx, instance.id, bidNanosPerHour);
  await setLeasePrice(tx, instance.id, bidNanosPerHour / BigInt(instance.deviceCount));
  await reschedule(tx, [instance.machineId]);
  await refreshOffers(tx, [instance.machineId]);
}

/** What a user sees of one instance: its record, shortly after its end a tombstone, then nothing. */
export async function showInstance(
  db: Reader,
  { userId, instanceId, now }: { userId: UserId; instanceId: number; now: Date },
): Promise<InstanceRecord | undefined> {
  const id = toId(instanceId);
  const instance = id && (await findInstance(db, userId, id));
  if (instance === undefined) return undefined;
  const isOver = instance.phase === "ended" && now.getTime() - instance.phaseSinceAt.getTime() > TOMBSTONE_MS;
  if (isOver) return undefined;
  const machine = (await listMachines(db, [instance.machineId])).get(instance.machineId);
  return machine && instanceRecord(instance, machine, now);
}

/** Everything that a user has, in id order. */
export async function listInstanceRecords(db: Reader, userId: UserId, now: Date): Promise<readonly InstanceRecord[]> {
  const instances = await listInstancesOf(db, userId);
  const machines = await listMachines(db, [...new Set(instances.map((instance) => instance.machineId))]);
  return instances.flatMap((instance) => {
    const machine = machines.get(instance.machineId);
    return machine === undefined ? [] : [instanceRecord(instance, machine, now)];
  });
}
