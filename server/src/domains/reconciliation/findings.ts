import type { InstanceId, MachineId, VolumeId } from "../../base/ids.ts";
import type { Inventory } from "../hosts/index.ts";
import type { HoldOwner, Stand } from "../instances/index.ts";
import type { HoldId, PendingHold } from "../ledger/index.ts";
import type { HoldMismatches, LeaseMismatch } from "./standing-rules.ts";

/** What a rule does about something; `alarm` leaves it to a person. */
export type Repair =
  | { readonly kind: "releaseHold"; readonly holdId: HoldId }
  | { readonly kind: "forgetHold"; readonly id: InstanceId; readonly holdId: HoldId }
  | { readonly kind: "settleUnheld"; readonly id: InstanceId }
  | { readonly kind: "scheduleInstance"; readonly id: InstanceId }
  | { readonly kind: "scheduleVolume"; readonly id: VolumeId }
  | { readonly kind: "tellAgain"; readonly machineId: MachineId }
  | { readonly kind: "alarm" };

/** One thing on which two of ledger, leases, instances and hosts do not agree. */
export type Finding = {
  readonly kind: string;
  /** `hold 7`, `instance 12`. */
  readonly subject: string;
  readonly repair: Repair;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
};

/** What is on its way has so long to arrive before a rule looks at it. */
const SETTLED_MS = 120_000;
/** What should last a minute and has lasted so long will not end by itself. */
const STUCK_MS = 600_000;

/** Holds that nobody names are given back; an instance does not go on naming one that is closed. */
export function holdFindings({ withoutInstance, withoutHold, shared }: HoldMismatches, now: Date): readonly Finding[] {
  const isOld = ({ createdAt }: PendingHold) => isOlderThan(createdAt, SETTLED_MS, now);
  return [
    ...withoutInstance.filter(isOld).map((hold): Finding => {
      const { id: holdId, userId, amountNanos } = hold;
      const details = { user_id: userId ?? null, amount_nanos: String(amountNanos) };
      return { kind: "stray_hold", subject: `hold ${holdId}`, repair: { kind: "releaseHold", holdId }, details };
    }),
    ...withoutHold.map(({ id, holdId, phase }: HoldOwner): Finding => ({
      kind: "closed_hold",
      subject: `instance ${id}`,
      repair: { kind: "forgetHold", id, holdId },
      details: { hold_id: String(holdId), phase },
    })),
    ...shared.map((id): Finding => ({
      kind: "shared_hold",
      subject: `hold ${id}`,
      repair: { kind: "alarm" },
      details: {},
    })),
  ];
}

/** Hardware is never freed by a rule: without a receipt nobody knows what still runs on it. */
export function leaseFindings(mismatches: readonly LeaseMismatch[], now: Date): readonly Finding[] {
  return mismatches
    .filter(({ stand }) => stand === undefined || isOlderThan(stand.phaseSinceAt, SETTLED_MS, now))
    .map(({ instanceId, stand, held, expectedCount }) => ({
      kind: "wrong_lease",
      subject: `instance ${instanceId}`,
      repair: { kind: "alarm" },
      details: { phase: stand?.phase ?? "ended", devices: held?.deviceCount ?? 0, expected: expectedCount },
    }));
}

const UP_PHASES: ReadonlySet<Stand["phase"]> = new Set(["starting", "running", "yielding"]);

/** Instances that run on nothing, and those that were due longer ago than the loops should let them be. */
export function standFindings(stands: Iterable<Stand>, now: Date): readonly Finding[] {
  const findings: Finding[] = [];
  for (const stand of stands) {
    if (isUnheld(stand, now)) {
      const repair: Repair = stand.isMetered ? { kind: "settleUnheld", id: stand.id } : { kind: "alarm" };
      const details = { phase: stand.phase, is_metered: stand.isMetered };
      findings.push({ kind: "missing_hold", subject: `instance ${stand.id}`, repair, details });
    }
    if (stand.settleAt !== undefined && isOlderThan(stand.settleAt, STUCK_MS, now)) {
      const details = { phase: stand.phase, settle_at: stand.settleAt.toISOString() };
      const subject = `instance ${stand.id}`;
      findings.push({ kind: "late_settlement", subject, repair: { kind: "alarm" }, details });
    }
    if (stand.deadlineAt !== undefined && isOlderThan(stand.deadlineAt, STUCK_MS, now)) {
      const details = { phase: stand.phase, deadline_at: stand.deadlineAt.toISOString() };
      const subject = `instance ${stand.id}`;
      findings.push({ kind: "stuck_phase", subject, repair: { kind: "alarm" }, details });
    }
  }
  return findings;
}

/** What a deposit pays needs no hold; what is settled soon gets one, or is stopped, by that. */
function isUnheld(stand: Stand, now: Date): boolean {
  const { isBackground, isReserved, desired, phase, phaseSinceAt, holdId, settleAt } = stand;
  if (isBackground || isReserved || holdId !== undefined || desired !== "running" || !UP_PHASES.has(phase))
    return false;
  const isDueSoon = settleAt !== undefined && settleAt.getTime() <= now.getTime() + SETTLED_MS;
  return !isDueSoon && isOlderThan(phaseSinceAt, SETTLED_MS, now);
}

export function scheduleFindings(
  instanceIds: readonly InstanceId[],
  volumeIds: readonly VolumeId[],
): readonly Finding[] {
  return [
    ...instanceIds.map((id): Finding => ({
      kind: "unscheduled",
      subject: `instance ${id}`,
      repair: { kind: "scheduleInstance", id },
      details: {},
    })),
    ...volumeIds.map((id): Finding => ({
      kind: "unscheduled",
      subject: `volume ${id}`,
      repair: { kind: "scheduleVolume", id },
      details: {},
    })),
  ];
}

/** What a host has, beside what it should have. */
export type InventoryFacts = {
  readonly inventories: ReadonlyMap<MachineId, Inventory>;
  readonly stands: ReadonlyMap<InstanceId, Stand>;
  readonly volumePlaces: ReadonlyMap<VolumeId, MachineId | undefined>;
  /** What is stored as counted, by instance, of its present run. */
  readonly countedMs: ReadonlyMap<InstanceId, bigint>;
};

/** A host that has what is not its own, or lacks what it should run, is told again what it is to have. */
export function inventoryFindings(facts: InventoryFacts, now: Date): readonly Finding[] {
  const findings: Finding[] = [];
  const lacking = Map.groupBy(
    [...facts.stands.values()].filter(({ phase }) => phase === "running" || phase === "yielding"),
    ({ machineId }) => machineId,
  );
  for (const [machineId, inventory] of facts.inventories) {
    findings.push(...strayFindings(machineId, inventory, facts));
    const has = new Set(inventory.instances.map(({ instance_id: id }) => id));
    for (const { id, phase, phaseSinceAt } of lacking.get(machineId) ?? []) {
      if (has.has(id) || !isOlderThan(phaseSinceAt, SETTLED_MS, now)) continue;
      findings.push(toldFinding("missing_instance", `instance ${id}`, machineId, { phase }));
    }
    findings.push(...uncountedFindings(machineId, inventory, facts));
  }
  return findings;
}

function strayFindings(
  machineId: MachineId,
  { instances, volumes }: Inventory,
  { stands, volumePlaces }: InventoryFacts,
): readonly Finding[] {
  const strays = instances.flatMap(({ instance_id: id, state }): readonly Finding[] => {
    const place = stands.get(id as InstanceId)?.machineId;
    if (state === "absent" || place === machineId) return [];
    return [toldFinding("stray_instance", `instance ${id}`, machineId, { state, belongs_to: place ?? null })];
  });
  const strayVolumes = volumes.flatMap(({ volume_id: id, state }): readonly Finding[] => {
    const volumeId = id as VolumeId;
    const place = volumePlaces.get(volumeId);
    const isOwn = volumePlaces.has(volumeId) && (place === undefined || place === machineId);
    if (state === "absent" || isOwn) return [];
    return [toldFinding("stray_volume", `volume ${id}`, machineId, { state, belongs_to: place ?? null })];
  });
  return [...strays, ...strayVolumes];
}

/** A host that counts far more than is stored counts what cannot be, or is not listened to. */
function uncountedFindings(
  machineId: MachineId,
  { instances }: Inventory,
  { stands, countedMs }: InventoryFacts,
): readonly Finding[] {
  return instances.flatMap(({ instance_id, generation, counters }): readonly Finding[] => {
    const stand = stands.get(instance_id as InstanceId);
    const counted = countedMs.get(instance_id as InstanceId);
    if (stand?.machineId !== machineId || stand.generation !== generation || counted === undefined) return [];
    const behindMs = counters.running_ms - Number(counted);
    if (behindMs <= STUCK_MS) return [];
    const details = { machine_id: machineId, counted_ms: Number(counted), said_ms: counters.running_ms };
    return [{ kind: "uncounted_time", subject: `instance ${instance_id}`, repair: { kind: "alarm" }, details }];
  });
}

function toldFinding(kind: string, subject: string, machineId: MachineId, details: Finding["details"]): Finding {
  return { kind, subject, repair: { kind: "tellAgain", machineId }, details: { machine_id: machineId, ...details } };
}

function isOlderThan(time: Date, ms: number, now: Date): boolean {
  return now.getTime() - time.getTime() > ms;
}
