import type { DeviceId, InstanceId, MachineId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { setReviews } from "../../../supply/hosts/for-instances.ts";
import { listSpans } from "../../../supply/hosts/index.ts";
import { releaseHolds } from "../../../money/ledger/for-instances.ts";
import { clearUnmeteredHolds, makeDue } from "../../../money/tabs/index.ts";
import {
  allocate,
  insertGpuGrants,
  readMachineStates,
  readMarketRules,
  releaseGpuGrants,
  setGpuGrantGenerations,
  type NewGpuGrant,
} from "../../../supply/market/for-instances.ts";
import { refreshOffers } from "../../../supply/market/index.ts";
import { detachVolumes } from "../../../supply/volumes/for-instances.ts";
import { chargeEndOf } from "../chargeable.ts";
import { listClaims } from "../bids/claim-store.ts";
import { isUnsettled, machineClaims } from "../bids/claims.ts";
import { faultOf } from "./rules/host-fault.ts";
import { insertHostFaults, type HostFault } from "./host-fault-store.ts";
import type { Actor, Instance } from "../instance.ts";
import {
  decide,
  deadlineOf,
  type DesiredState,
  type Effect,
  type LifecycleEvent,
  type Phase,
} from "./rules/lifecycle.ts";
import { rejectionOf } from "../rules/refusals.ts";
import { tellMoves } from "./notifications.ts";
import { setDesired, updatePhases, type PhaseChange } from "./phase-store.ts";
import { insertEvents, lockInstances, notifyDesired } from "../store.ts";
import { insertRuns, closeRuns, setChargeEnds, type RunEnd } from "../counting/run-store.ts";

/** An event of one instance. The caller holds the row locks of the machine and the instance. */
export type Happening = {
  readonly instance: Instance;
  readonly event: LifecycleEvent;
  readonly actor: Actor;
  readonly cause: string;
  /** The new intent, when the event changes it. */
  readonly desired?: DesiredState;
  /** Milliseconds of the eviction notice that the event begins. */
  readonly noticeMs?: number;
  /** The generation of a host that is ahead; the instance takes it over. */
  readonly hostGeneration?: number;
};

/** The consequences of a set of events beyond the rows of their instances, gathered so that each is done once. */
type Consequences = {
  readonly told: Set<MachineId>;
  readonly scheduled: Set<MachineId>;
  readonly changed: Set<MachineId>;
  readonly released: InstanceId[];
  readonly ended: InstanceId[];
  readonly due: InstanceId[];
  readonly faults: HostFault[];
  /** Instances whose holds are released if they never ran. */
  readonly left: InstanceId[];
};

/**
 * The one way in which instances change their phases: decides each event, writes phases and events of all instances,
 * and then does what follows in order: free devices, release holds, let the schedule use what came free, tell the
 * hosts. Each instance may occur once.
 */
export async function applyHappenings(tx: Tx, happenings: readonly Happening[]): Promise<void> {
  const after = noConsequences();
  await applyAll(tx, happenings, after);
  await settle(tx, after);
}

/**
 * Reviews the schedules of these machines: waiting claims get free devices, and take those of lower claims. The caller
 * holds the machines' locks.
 */
export async function reschedule(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const after = noConsequences();
  for (const id of machineIds) after.scheduled.add(id);
  await settle(tx, after);
}

/** Makes these instances leave, regardless of the schedule. The caller holds the locks of their machines. */
export async function displace(tx: Tx, instances: readonly Instance[], cause: string): Promise<void> {
  if (instances.length === 0) return;
  const { noticeMs } = await readMarketRules(tx.db);
  const event = noticeMs === 0 ? "displacedAtOnce" : "displaced";
  await applyHappenings(
    tx,
    instances.map((instance): Happening => ({ instance, event, actor: "market", cause, noticeMs })),
  );
}

function noConsequences(): Consequences {
  const sets = { told: new Set<MachineId>(), scheduled: new Set<MachineId>(), changed: new Set<MachineId>() };
  return { ...sets, released: [], ended: [], due: [], faults: [], left: [] };
}

type Move = PhaseChange & { readonly happening: Happening; readonly effects: readonly Effect[] };

async function applyAll(tx: Tx, happenings: readonly Happening[], after: Consequences): Promise<void> {
  const moves = happenings.flatMap((happening) => moveOf(tx.now, happening) ?? []);
  await setDesired(
    tx,
    happenings.flatMap(({ instance: { id, desired: before }, desired = before }) =>
      desired === before ? [] : [{ id, desired }],
    ),
  );
  const movedCount = await updatePhases(tx, moves);
  invariant(movedCount === moves.length, `of ${moves.length} locked instances ${movedCount} could be moved`);
  const movedAt = await insertEvents(
    tx,
    moves.map(({ happening: { instance, actor }, cause, to, generation }) => ({
      instanceId: instance.id,
      actor,
      cause,
      from: instance.phase,
      to,
      generation,
    })),
  );
  const runs = moves
    .filter(({ effects }) => effects.includes("newGeneration"))
    .map(({ from, generation }) => ({ instanceId: from.id, generation }));
  await setChargeEnds(tx, chargeEndsOf(movedAt, moves));
  await insertRuns(tx, runs);
  await closeEnded(tx, moves);
  // Devices that were granted just now were granted to this run.
  await setGpuGrantGenerations(
    tx,
    moves
      .filter(
        ({ happening: { event }, from, generation }) => event !== "devicesGranted" && generation !== from.generation,
      )
      .map(({ from, generation }) => ({ instanceId: from.id, generation })),
  );
  await tellMoves(
    tx,
    moves.map(({ happening: { event }, from, to, cause, generation }) => ({ event, from, to, cause, generation })),
  );
  for (const move of moves) noteConsequences(move, after);
}

function chargeEndsOf(movedAt: ReadonlyMap<InstanceId, Date>, moves: readonly Move[]): readonly RunEnd[] {
  return moves.flatMap(({ happening: { event, noticeMs = 0 }, from, to, effects }): readonly RunEnd[] => {
    const change = { from: from.phase, to, event, isNewRun: effects.includes("newGeneration"), noticeMs };
    const at = movedAt.get(from.id);
    invariant(at !== undefined, `the change of instance ${from.id} was not noted`);
    const end = chargeEndOf(at, change);
    if (end.kind === "none") return [];
    return [{ instanceId: from.id, generation: from.generation, at: end.kind === "end" ? end.at : undefined }];
  });
}

/** Events after which the host has nothing more to report on a run. */
const LAST_EVENTS: ReadonlySet<LifecycleEvent> = new Set(["containerStopped", "containerAbsent", "hostLost"]);

/**
 * Closes runs that are over: they count nothing more. A run on a lost host is closed at the last report of the host. A
 * run that its host stopped against its orders is not certainly over: the host may start it again before it gets the
 * next order, so it is counted up to the beginning of the next run.
 */
async function closeEnded(tx: Tx, moves: readonly Move[]): Promise<void> {
  const over = moves.filter(
    ({ happening, effects }) => LAST_EVENTS.has(happening.event) && !effects.includes("newGeneration"),
  );
  const lost = over.filter(({ happening }) => happening.event === "hostLost");
  const lostOn = [...new Set(lost.map(({ from }) => from.machineId))];
  const spans = await listSpans(tx.db, lostOn, tx.now);
  await closeRuns(
    tx,
    over.map(({ from: { id, generation, machineId }, happening }) => {
      const lastSeenAt = happening.event === "hostLost" ? spans.get(machineId)?.lastSeenAt : undefined;
      return { instanceId: id, generation, at: lastSeenAt ?? tx.now };
    }),
  );
}

/** The move of an instance that an event causes; undefined when it stays in its phase. */
function moveOf(now: Date, happening: Happening): Move | undefined {
  const { instance, event, cause, noticeMs = 0, hostGeneration } = happening;
  const decision = decide(instance.phase, event, happening.desired ?? instance.desired);
  if (decision.kind === "reject") throw rejectionOf(decision.code, instance.id);
  if (decision.kind === "stay") return undefined;
  const { to, effects } = decision;
  const isDisplaced = (event === "displaced" || event === "displacedAtOnce") && to === "stopping";
  const hasYielded = instance.phase === "yielding" && to !== "running";
  const displacedAt = hasYielded ? instance.phaseSinceAt : isDisplaced ? now : undefined;
  return {
    happening,
    effects,
    from: instance,
    to,
    cause,
    generation: hostGeneration ?? instance.generation + (effects.includes("newGeneration") ? 1 : 0),
    deadlineAt: deadlineOf(to, now, noticeMs),
    displacedAt,
    isRelease: effects.includes("releaseDevices"),
  };
}

function noteConsequences({ from, to, effects, happening }: Move, after: Consequences): void {
  const { id, machineId, generation } = from;
  if (to === "ended") after.ended.push(id);
  const reason = faultOf({ ...from, event: happening.event, to });
  if (reason !== undefined) after.faults.push({ instanceId: id, generation, reason });
  // A run begins or ends here, or its host failed: the instance is due, so that charges and hold follow at once.
  if (reason !== undefined || SETTLED_PHASES.has(to)) after.due.push(id);
  for (const effect of effects) {
    switch (effect) {
      case "newGeneration":
        break;
      case "tellAgent":
        after.told.add(machineId);
        break;
      case "releaseDevices":
        after.released.push(id);
        after.changed.add(machineId);
        break;
      case "releaseHold":
        after.left.push(id);
        break;
      case "schedule":
        after.scheduled.add(machineId);
        break;
    }
  }
}

/** An instance that enters one of these phases is settled at once, up to that moment. */
const SETTLED_PHASES: ReadonlySet<Phase> = new Set(["running", "scheduled", "stopped", "ending", "ended"]);

async function settle(tx: Tx, after: Consequences): Promise<void> {
  if (after.released.length > 0) await releaseGpuGrants(tx, after.released);
  // Volumes are detached only when nothing is left of the instance: until then its container may write to them.
  if (after.ended.length > 0) await detachVolumes(tx, after.ended);
  if (after.scheduled.size > 0) await grantAndDisplace(tx, [...after.scheduled], after);
  await insertHostFaults(tx, after.faults);
  await makeDue(tx, after.due);
  await releaseUnused(tx, after.left);
  if (after.changed.size > 0) await refreshOffers(tx, [...after.changed]);
  if (after.told.size > 0) await notifyDesired(tx, [...after.told]);
}

/**
 * Releases the holds of runs that never ran. A run that ran is charged once more first: until then its hold stays, so
 * that the credit cannot be spent otherwise.
 */
async function releaseUnused(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  if (ids.length === 0) return;
  // Ledger rows are locked last of all, in every use case.
  await releaseHolds(tx, await clearUnmeteredHolds(tx, ids));
}

async function grantAndDisplace(tx: Tx, machineIds: readonly MachineId[], after: Consequences): Promise<void> {
  const claims = Map.groupBy(await listClaims(tx.db, machineIds), (claim) => claim.machineId);
  const unsettledIds = machineIds.filter((id) => claims.get(id)?.some(isUnsettled));
  const reviews = new Map<MachineId, number | undefined>(machineIds.map((id) => [id, undefined]));
  const events = new Map<InstanceId, Pick<Happening, "event" | "cause">>();
  const granted = new Map<InstanceId, readonly DeviceId[]>();
  const rules = unsettledIds.length === 0 ? NO_NOTICE : await readMarketRules(tx.db);
  const states = unsettledIds.length === 0 ? [] : await readMachineStates(tx, unsettledIds);
  for (const [id, state] of states) {
    const plan = allocate(machineClaims(state, claims.get(id) ?? [], rules, tx.now));
    reviews.set(id, plan.reviewAtMs);
    for (const { instanceId, deviceIds } of plan.grants) {
      granted.set(instanceId, deviceIds);
      events.set(instanceId, { event: "devicesGranted", cause: "devices_granted" });
    }
    for (const { instanceId, reason } of plan.displaced) {
      const isAtOnce = rules.noticeMs === 0 || reason === "background";
      events.set(instanceId, { event: isAtOnce ? "displacedAtOnce" : "displaced", cause: reason });
    }
    for (const instanceId of plan.reprieved) events.set(instanceId, { event: "reprieved", cause: "notice_withdrawn" });
  }
  await setReviews(
    tx,
    [...reviews].map(([machineId, atMs]) => ({ machineId, atMs })),
  );
  const happenings: Happening[] = [];
  const grants: NewGpuGrant[] = [];
  for (const instance of await lockInstances(tx, [...events.keys()])) {
    const { event = "devicesGranted", cause = "" } = events.get(instance.id) ?? {};
    happenings.push({ instance, event, cause, actor: "market", noticeMs: rules.noticeMs });
    const deviceIds = granted.get(instance.id);
    if (deviceIds === undefined) continue;
    grants.push(...grantsOf({ ...instance, generation: instance.generation + 1 }, deviceIds));
    after.changed.add(instance.machineId);
  }
  await insertGpuGrants(tx, grants);
  await applyAll(tx, happenings, after);
}

const NO_NOTICE = { noticeMs: 0, minSliceMs: 0 } as const;

/** The rows that grant these devices to an instance for its generation. */
export function grantsOf(
  instance: Pick<Instance, "id" | "machineId" | "isBid" | "priceNanosPerHour" | "deviceCount" | "generation">,
  deviceIds: readonly NewGpuGrant["deviceId"][],
): readonly NewGpuGrant[] {
  return deviceIds.map((deviceId) => ({
    deviceId,
    machineId: instance.machineId,
    instanceId: instance.id,
    generation: instance.generation,
    isBid: instance.isBid,
    priceNanosPerDeviceHour: instance.priceNanosPerHour / BigInt(instance.deviceCount),
  }));
}
