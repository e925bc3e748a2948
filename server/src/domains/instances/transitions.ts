import { conflict, notFound, type AppError } from "../../base/errors.ts";
import type { InstanceId, MachineId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Tx } from "../../db/transaction.ts";
import { releaseHolds, type HoldId } from "../ledger/index.ts";
import {
  allocate,
  freeDevices,
  insertLeases,
  readMachineStates,
  refreshOffers,
  releaseLeases,
  setLeaseGeneration,
  type Holder,
  type MachineState,
  type NewLease,
} from "../market/index.ts";
import { detachVolumes } from "../volumes/index.ts";
import type { Actor, Instance } from "./instance.ts";
import { decide, deadlineOf, type DesiredState, type LifecycleEvent } from "./lifecycle.ts";
import {
  insertEvents,
  listClaims,
  lockInstances,
  notifyDesired,
  setDesired,
  setHold,
  updatePhase,
  type StoredClaim,
} from "./store.ts";
import { insertRuns } from "./run-store.ts";

/** One thing that happened to one instance. The caller holds the row locks of the machine and the instance. */
export type Happening = {
  readonly instance: Instance;
  readonly event: LifecycleEvent;
  readonly actor: Actor;
  readonly cause: string;
  /** The new intent, when the event changes it. */
  readonly desired?: DesiredState;
};

/** What a set of happenings leads to beyond the rows they touch, gathered so that each is done once. */
type Consequences = {
  readonly told: Set<MachineId>;
  readonly scheduled: Set<MachineId>;
  readonly changed: Set<MachineId>;
  readonly released: InstanceId[];
  readonly ended: InstanceId[];
  readonly holds: { readonly instanceId: InstanceId; readonly holdId: HoldId }[];
};

/**
 * The one way in which an instance changes its phase: decides each happening, writes phase and event rows, and then does
 * what follows in order: free devices, give back holds, let the schedule use what came free, tell the hosts.
 */
export async function applyHappenings(tx: Tx, happenings: readonly Happening[]): Promise<void> {
  const after = noConsequences();
  for (const happening of happenings) await applyOne(tx, happening, after);
  await settle(tx, after);
}

/** Looks at these machines anew: who waits gets what is free, and takes what it outbids. The caller holds their locks. */
export async function reschedule(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const after = noConsequences();
  for (const id of machineIds) after.scheduled.add(id);
  await settle(tx, after);
}

function noConsequences(): Consequences {
  return { told: new Set(), scheduled: new Set(), changed: new Set(), released: [], ended: [], holds: [] };
}

async function applyOne(tx: Tx, happening: Happening, after: Consequences): Promise<void> {
  const { instance, event, actor, cause } = happening;
  const desired = happening.desired ?? instance.desired;
  const decision = decide(instance.phase, event, desired);
  if (decision.kind === "reject") throw rejection(decision.code, instance.id);
  if (desired !== instance.desired) await setDesired(tx, instance.id, desired);
  if (decision.kind === "stay") return;
  const isNewRun = decision.effects.includes("newGeneration");
  const generation = isNewRun ? instance.generation + 1 : instance.generation;
  const moved = await updatePhase(tx, instance, {
    to: decision.to,
    cause,
    generation,
    deadlineAt: deadlineOf(decision.to, tx.now),
    isEnd: decision.to === "ended",
    isRelease: decision.effects.includes("releaseDevices"),
  });
  invariant(moved === "moved", `instance ${instance.id} moved although it was locked`);
  await insertEvents(tx, [
    { instanceId: instance.id, actor, cause, from: instance.phase, to: decision.to, generation },
  ]);
  if (decision.to === "ended") after.ended.push(instance.id);
  for (const effect of decision.effects) {
    switch (effect) {
      case "newGeneration":
        await insertRuns(tx, [{ instanceId: instance.id, generation }]);
        await setLeaseGeneration(tx, instance.id, generation);
        break;
      case "tellAgent":
        after.told.add(instance.machineId);
        break;
      case "releaseDevices":
        after.released.push(instance.id);
        after.changed.add(instance.machineId);
        break;
      case "releaseHold":
        if (instance.holdId !== undefined) after.holds.push({ instanceId: instance.id, holdId: instance.holdId });
        break;
      case "schedule":
        after.scheduled.add(instance.machineId);
        break;
    }
  }
}

async function settle(tx: Tx, after: Consequences): Promise<void> {
  if (after.released.length > 0) await releaseLeases(tx, after.released);
  // Not before nothing is left of it: until then its container may write to its volumes.
  if (after.ended.length > 0) await detachVolumes(tx, after.ended);
  if (after.scheduled.size > 0) await grantAndDisplace(tx, [...after.scheduled], after);
  if (after.holds.length > 0) {
    // Ledger rows are locked last of all, in every use case.
    await releaseHolds(
      tx,
      after.holds.map((hold) => hold.holdId),
    );
    for (const { instanceId } of after.holds) await setHold(tx, instanceId, undefined);
  }
  if (after.changed.size > 0) await refreshOffers(tx, [...after.changed]);
  if (after.told.size > 0) await notifyDesired(tx, [...after.told]);
}

async function grantAndDisplace(tx: Tx, machineIds: readonly MachineId[], after: Consequences): Promise<void> {
  const claims = Map.groupBy(await listClaims(tx, machineIds), (claim) => claim.machineId);
  if (![...claims.values()].flat().some((claim) => claim.phase === "scheduled")) return;
  const states = await readMachineStates(tx, machineIds);
  for (const [machineId, state] of states) {
    const { grants, displaced } = planMachine(state, claims.get(machineId) ?? []);
    const granted = new Map(grants.map((grant) => [grant.instanceId, grant.deviceIds]));
    const locked = await lockInstances(tx, [...granted.keys(), ...displaced]);
    for (const instance of locked) {
      const deviceIds = granted.get(instance.id);
      if (deviceIds !== undefined) {
        const generation = instance.generation + 1;
        await insertLeases(tx, leasesOf({ ...instance, generation }, deviceIds));
        after.changed.add(machineId);
      }
      const event = deviceIds === undefined ? "displaced" : "devicesGranted";
      await applyOne(tx, { instance, event, actor: "market", cause: CAUSES[event] }, after);
    }
  }
}

const CAUSES = { displaced: "outbid", devicesGranted: "devices_granted" } as const;

function planMachine(state: MachineState, claims: readonly StoredClaim[]) {
  const floor = state.machine.priceMinBidNanosPerHour;
  const holderIds = new Set(state.leases.map((lease) => lease.instanceId));
  const usable = new Set(state.machine.devices.filter((device) => device.isUsable).map((device) => device.id));
  const held = Map.groupBy(state.leases, (lease) => lease.instanceId);
  const holders: Holder[] = claims
    .filter((claim) => holderIds.has(claim.instanceId))
    .map((claim) => ({
      ...claim,
      isLeaving: claim.phase === "stopping" || claim.phase === "ending",
      usableCount: (held.get(claim.instanceId) ?? []).filter((lease) => usable.has(lease.deviceId)).length,
    }));
  const waiting = claims.filter(
    (claim) =>
      claim.phase === "scheduled" && (!claim.isBid || claim.priceNanosPerHour >= floor * BigInt(claim.deviceCount)),
  );
  return allocate({ freeDevices: freeDevices(state), holders, waiting });
}

/** The rows that give these devices to an instance for its generation. */
export function leasesOf(
  instance: Pick<Instance, "id" | "machineId" | "isBid" | "priceNanosPerHour" | "deviceCount" | "generation">,
  deviceIds: readonly NewLease["deviceId"][],
): readonly NewLease[] {
  return deviceIds.map((deviceId) => ({
    deviceId,
    machineId: instance.machineId,
    instanceId: instance.id,
    generation: instance.generation,
    isBid: instance.isBid,
    priceNanosPerDeviceHour: instance.priceNanosPerHour / BigInt(instance.deviceCount),
  }));
}

function rejection(code: "no_such_instance" | "not_running", id: InstanceId): AppError {
  if (code === "no_such_instance") return noSuchInstance(id);
  return conflict("not_running", `Instance ${id} is not running.`);
}

export function noSuchInstance(id: number): AppError {
  return notFound("no_such_instance", `There is no instance ${id}.`);
}
