import { throwRefusal } from "../../../base/errors.ts";
import { parseId, type ApiKeyId, type InstanceId, type UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { deleteInstanceKeys, deleteInstanceSshKeys } from "../../people/accounts/for-instances.ts";
import { requireAccount } from "../../people/accounts/index.ts";
import { describeMachines, listMaintenances, lockMachines } from "../../supply/hosts/index.ts";
import { findPendingHold, isHeldUntilStopped } from "../../money/ledger/for-instances.ts";
import { listDepositBalances, placeHold, releaseHold, type HoldId } from "../../money/ledger/index.ts";
import { findHold, makeDue, setHold } from "../../money/tabs/index.ts";
import { listNotes } from "../tasks/index.ts";
import { listTemplateNames } from "../templates/index.ts";
import { listFilling } from "../../supply/volumes/for-instances.ts";
import { scopesOf } from "./cap-scopes.ts";
import { renewClaim } from "./bids/claim-store.ts";
import type { Actor, Instance } from "./instance.ts";
import type { InstanceKeySecret } from "./lifecycle/desired.ts";
import { noteFurtherStop, requireEnder, requireStarter } from "./access/instance-key.ts";
import { listEvents } from "./lifecycle/event-store.ts";
import { viewEvent } from "./lifecycle/events-view.ts";
import { jupyterTokenOf } from "./access/rules/jupyter.ts";
import type { LifecycleEvent } from "./lifecycle/rules/lifecycle.ts";
import { refuseHold } from "./orders/hold-refusal.ts";
import { holdAmount } from "./rules/pricing.ts";
import { noSuchInstance, refuseGone, refuseStart } from "./rules/refusals.ts";
import { listProxyPorts } from "./access/proxy-port-store.ts";
import { listRunRecords } from "./counting/run-store.ts";
import { requireOwnInstance } from "./own-spending.ts";
import { openInstance } from "./settings/encrypted-settings.ts";
import {
  findMachineOf,
  listInstancesById,
  listInstancesOf,
  listMachineIdsOfInstances,
  lockInstances,
  setLabel as storeLabel,
} from "./store.ts";
import { applyHappenings } from "./lifecycle/transitions.ts";
import { listRanks } from "./bids/rank-service.ts";
import { instanceRecord, type InstanceRecord, type PortUrl } from "./views.ts";
import { requireSoleWriter } from "./lifecycle/writers.ts";

export type InstanceRequest = {
  readonly userId: UserId;
  readonly instanceId: number;
  readonly actor: Actor;
  /** The key that makes the request; absent when the server itself acts. */
  readonly apiKeyId?: ApiKeyId;
};

/** A destroyed instance is shown as destroyed for ten minutes. */
const TOMBSTONE_MS = 600_000;

/** The caller's instance without a lock; undefined for any other. */
export async function findInstanceOf(db: Reader, userId: UserId, instanceId: number): Promise<Instance | undefined> {
  const id = toId(instanceId);
  const [instance] = id === undefined ? [] : await listInstancesById(db, [id]);
  return instance?.userId === userId ? instance : undefined;
}

/** Locks the caller's instance with its machine; throws `not_found` for any other. */
export async function requireInstance(tx: Tx, request: InstanceRequest): Promise<Instance> {
  const instance = await lockInstanceOf(tx, request);
  if (instance === undefined) throw noSuchInstance(request.instanceId);
  return instance;
}

/** Locks the caller's instance with its machine; undefined for any other. */
export async function lockInstanceOf(
  tx: Tx,
  { userId, instanceId }: Omit<InstanceRequest, "actor">,
): Promise<Instance | undefined> {
  const id = toId(instanceId);
  const machineId = id && (await findMachineOf(tx.db, userId, id));
  if (id === undefined || machineId === undefined) return undefined;
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [id]);
  return instance;
}

export function toId(instanceId: number): InstanceId | undefined {
  return parseId<InstanceId>(String(instanceId));
}

/** Starts an instance. An instance that has to wait for its devices is a success as well. */
export async function startInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  await requireAccount(tx, request.userId);
  const instance = await requireInstance(tx, request);
  await requireStarter(tx, instance, request.actor);
  await requireOwnInstance(tx.db, request.apiKeyId, instance);
  throwRefusal(refuseStart(instance, tx.now));
  if (instance.phase === "stopped") await requireSoleWriter(tx, instance.id);
  if (instance.desired === "stopped") await renewClaim(tx, instance.id, { isFresh: true });
  await apply(tx, instance, "startRequested", request.actor, "running");
  if (instance.desired !== "stopped" || instance.isBackground) return;
  const holdId = await findHold(tx.db, instance.id);
  if (holdId !== undefined && !(await isHeldUntilStopped(tx.db, holdId))) return;
  await replaceHold(tx, instance, { holdId, what: "starting" });
}

/**
 * Raises the hold of an instance to what its present price needs, unless it has none, or one only until it has stopped.
 * The hold never shrinks here, since it also covers accrued use. The next settlement, which is due now, adjusts it.
 */
export async function renewHold(tx: Tx, instance: Instance, what: string): Promise<void> {
  const holdId = await findHold(tx.db, instance.id);
  if (holdId === undefined || (await isHeldUntilStopped(tx.db, holdId))) return;
  await replaceHold(tx, instance, { holdId, what });
}

async function replaceHold(
  tx: Tx,
  instance: Instance,
  { holdId, what }: { readonly holdId: HoldId | undefined; readonly what: string },
): Promise<void> {
  const kept = holdId === undefined ? 0n : ((await findPendingHold(tx.db, holdId)) ?? 0n);
  const needed = await amountToSetAside(tx, instance);
  // Ledger rows are locked last of all, in every use case.
  if (holdId !== undefined) await releaseHold(tx, holdId);
  await holdFor(tx, instance, { what, amount: kept > needed ? nanos(kept) : needed });
  await makeDue(tx, [instance.id]);
}

/** Places a hold for an instance; `what` is the act that needs it, such as `starting`, for the refusal. */
async function holdFor(
  tx: Tx,
  instance: Instance,
  { what, amount }: { readonly what: string; readonly amount: Nanos },
): Promise<void> {
  const hold = await placeHold(tx, {
    userId: instance.userId,
    amount,
    cause: { instance_id: instance.id },
    scopes: scopesOf(instance),
  });
  if (hold.kind !== "placed") throw refuseHold(hold, { what: `${what} instance ${instance.id}`, amount });
  await setHold(tx, instance.id, hold.holdId);
}

/** The amount of the hold, without running time that a deposit pays. */
async function amountToSetAside(tx: Tx, instance: Instance): Promise<Nanos> {
  const amount = holdAmount(instance);
  if (instance.discountPpm === 0) return amount;
  const deposit = (await listDepositBalances(tx.db, [instance])).get(instance.id) ?? 0n;
  return deposit < amount ? amount : holdAmount({ ...instance, priceNanosPerHour: 0n });
}

/** Stops an instance and keeps its data. */
export async function stopInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  const instance = await requireInstance(tx, request);
  requireEnder(instance, request.actor);
  await noteFurtherStop(tx, instance, request.actor);
  await apply(tx, instance, "stopRequested", request.actor, "stopped");
}

/** Restarts the container in place; it keeps its devices. */
export async function rebootInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  await apply(tx, await requireInstance(tx, request), "rebootRequested", request.actor, "running");
}

/** Destroys an instance: container and data are deleted, and its key stops working at once. */
export async function destroyInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  const instance = await requireInstance(tx, request);
  requireEnder(instance, request.actor);
  await destroy(tx, instance, request.actor, "destroy_requested");
}

/** Destroys an instance of another domain, such as a worker of an endpoint group; does nothing if it is over. */
export async function destroyIfPresent(
  tx: Tx,
  { userId, instanceId, actor, cause }: Omit<InstanceRequest, "instanceId"> & { instanceId: InstanceId; cause: string },
): Promise<void> {
  const machineId = await findMachineOf(tx.db, userId, instanceId);
  if (machineId === undefined) return;
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [instanceId]);
  if (instance !== undefined && instance.phase !== "ended") await destroy(tx, instance, actor, cause);
}

/** Locks the machines of many instances at once, before each is destroyed: one after the other could deadlock. */
export async function lockMachinesOf(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  await lockMachines(tx, await listMachineIdsOfInstances(tx.db, instanceIds));
}

async function destroy(tx: Tx, instance: Instance, actor: Actor, cause: string): Promise<void> {
  await applyHappenings(tx, [{ instance, event: "destroyRequested", actor, cause, desired: "destroyed" }]);
  await deleteInstanceKeys(tx, [instance.id]);
  await deleteInstanceSshKeys(tx, [instance.id]);
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
  throwRefusal(refuseGone(instance));
  await storeLabel(tx, instance.id, label === "" ? null : label);
}

export type ShowRequest = { readonly userId: UserId; readonly instanceId: number };

/** Facts that all records share: the time of reading, and the settings of access. */
export type Viewpoint = {
  readonly now: Date;
  readonly proxyHost: string;
  /** The address by name of a published TCP port; absent where this service has no names for ports. */
  readonly portUrl?: PortUrl | undefined;
  readonly instanceKeySecret: InstanceKeySecret;
  readonly encryption: Encryption;
};

/**
 * The views of single instances, one answer for each request in order: the record, a tombstone shortly after its end,
 * then undefined.
 */
export async function showInstances(
  db: Reader,
  requests: readonly ShowRequest[],
  viewpoint: Viewpoint,
): Promise<readonly (InstanceRecord | undefined)[]> {
  const ids = requests.flatMap(({ instanceId }) => toId(instanceId) ?? []);
  const owners = new Map<InstanceId, UserId>();
  const shown: Instance[] = [];
  for (const instance of await listInstancesById(db, ids)) {
    owners.set(instance.id, instance.userId);
    const isOver =
      instance.phase === "ended" && viewpoint.now.getTime() - instance.phaseSinceAt.getTime() > TOMBSTONE_MS;
    if (!isOver) shown.push(instance);
  }
  const records = new Map<number, InstanceRecord>();
  for (const record of await recordsOf(db, shown, viewpoint)) records.set(record.id, record);
  return requests.map(({ userId, instanceId }) => {
    const id = toId(instanceId);
    return id !== undefined && owners.get(id) === userId ? records.get(id) : undefined;
  });
}

/** All instances of a user, in id order. */
export async function listInstanceRecords(
  db: Reader,
  userId: UserId,
  viewpoint: Viewpoint,
): Promise<readonly InstanceRecord[]> {
  return recordsOf(db, await listInstancesOf(db, userId), viewpoint);
}

/** Events of an instance, newest first (docs/bidding.md). */
export async function listInstanceEvents(db: Reader, { userId, instanceId }: ShowRequest, limit: number) {
  const id = toId(instanceId);
  const machineId = id && (await findMachineOf(db, userId, id));
  if (id === undefined || machineId === undefined) throw noSuchInstance(instanceId);
  return (await listEvents(db, id, limit)).map(viewEvent);
}

async function recordsOf(
  db: Reader,
  instances: readonly Instance[],
  { now, proxyHost, portUrl, instanceKeySecret, encryption }: Viewpoint,
): Promise<readonly InstanceRecord[]> {
  if (instances.length === 0) return [];
  const ids = instances.map((instance) => instance.id);
  const machineIds = [...new Set(instances.map((instance) => instance.machineId))];
  const [machines, maintenances, volumes, proxyPorts, notes, runs, templateNames, deposits, ranks] = await Promise.all([
    describeMachines(db, machineIds),
    listMaintenances(db, machineIds, now),
    listFilling(db, ids),
    listProxyPorts(db, ids),
    listNotes(db, ids, now),
    listRunRecords(
      db,
      instances.map((instance) => ({ instanceId: instance.id, generation: instance.generation })),
    ),
    listTemplateNames(
      db,
      instances.flatMap(({ templateHashId }) => templateHashId ?? []),
    ),
    listDepositBalances(
      db,
      instances.filter((instance) => instance.discountPpm > 0),
    ),
    listRanks(db, instances, now),
  ]);
  return instances.flatMap((stored) => {
    const { id } = stored;
    const machine = machines.get(stored.machineId);
    if (machine === undefined) return [];
    const instance = openInstance(stored, encryption);
    const jupyterToken = jupyterTokenOf(instance.launch.env, instanceKeySecret(id));
    const access = { proxyHost, proxyPort: proxyPorts.get(id), jupyterToken, portUrl };
    const surroundings = {
      machine,
      maintenances: maintenances.filter((one) => one.machineId === machine.id),
      volumes: volumes.get(id) ?? [],
      now,
      access,
      note: notes.get(id),
      run: runs.get(id),
      templateName: templateNames.get(instance.templateHashId ?? ""),
      rank: ranks.get(id),
      depositNanos: deposits.get(id),
    };
    return [instanceRecord(instance, surroundings)];
  });
}
