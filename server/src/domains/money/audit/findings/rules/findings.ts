import type { InstanceId, MachineId, VolumeId } from "../../../../../base/ids.ts";
import type { Inventory, Registration } from "../../../../supply/hosts/index.ts";
import type { CountedRun } from "../../../../rental/instances/index.ts";
import type { HoldId, PendingHold } from "../../../ledger/index.ts";
import type { HoldMismatches, LeaseMismatch } from "../../checks/mismatches.ts";
import type { HoldOwner, Stand } from "../../../charging/for-audit.ts";

/** What a rule does about something; `alarm` leaves it to a person. */
export type Repair =
  | { readonly kind: "releaseHold"; readonly holdId: HoldId }
  | { readonly kind: "forgetHold"; readonly id: InstanceId; readonly holdId: HoldId }
  | { readonly kind: "settleUnheld"; readonly id: InstanceId }
  | { readonly kind: "scheduleInstance"; readonly id: InstanceId }
  | { readonly kind: "scheduleVolume"; readonly id: VolumeId }
  | { readonly kind: "tellAgain"; readonly machineId: MachineId }
  | { readonly kind: "takeBack"; readonly connection: Registration }
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
/** Counters of a run that goes on are stored once a minute: what was not for so long is not being billed. */
const UNCOUNTED_MS = 300_000;
/** What a host counts in that time and is not stored, at least: a host that stands still counts nothing. */
const UNBILLED_MS = 60_000;

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
    const dueAt = stand.unsettledSinceAt ?? stand.settleAt;
    if (dueAt !== undefined && isOlderThan(dueAt, STUCK_MS, now)) {
      const details = { phase: stand.phase, settle_at: dueAt.toISOString() };
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

/** Settlements that were due before this are late. */
export function lateBefore(now: Date): Date {
  return new Date(now.getTime() - STUCK_MS);
}

/** Rentals that are over, and volumes, that were not settled although they were due long ago. */
export function lateFindings(
  ended: readonly { readonly id: InstanceId; readonly dueAt: Date }[],
  volumes: readonly { readonly id: VolumeId; readonly dueAt: Date }[],
): readonly Finding[] {
  const late = (subject: string, dueAt: Date): Finding => ({
    kind: "late_settlement",
    subject,
    repair: { kind: "alarm" },
    details: { settle_at: dueAt.toISOString() },
  });
  return [
    ...ended.map(({ id, dueAt }) => late(`instance ${id}`, dueAt)),
    ...volumes.map(({ id, dueAt }) => late(`volume ${id}`, dueAt)),
  ];
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
  readonly counted: ReadonlyMap<InstanceId, CountedRun>;
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
    findings.push(...uncountedFindings(machineId, inventory, facts, now));
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

/**
 * A host that counts far more than is stored counts what cannot be, or is not listened to; one whose counts are not stored
 * any more runs what nobody pays for.
 */
function uncountedFindings(
  machineId: MachineId,
  { instances }: Inventory,
  { stands, counted }: InventoryFacts,
  now: Date,
): readonly Finding[] {
  return instances.flatMap(({ instance_id, generation, state, counters }): readonly Finding[] => {
    const stand = stands.get(instance_id as InstanceId);
    const run = counted.get(instance_id as InstanceId);
    if (stand?.machineId !== machineId || stand.generation !== generation || run === undefined) return [];
    const behindMs = counters.running_ms - run.runningMs;
    const isUnbilled = state === "running" && behindMs > UNBILLED_MS && isOlderThan(run.at, UNCOUNTED_MS, now);
    if (behindMs <= STUCK_MS && !isUnbilled) return [];
    const kind = behindMs > STUCK_MS ? "uncounted_time" : "unbilled_time";
    const said = { machine_id: machineId, counted_ms: run.runningMs, said_ms: counters.running_ms };
    const details = { ...said, counted_at: run.at.toISOString() };
    return [{ kind, subject: `instance ${instance_id}`, repair: { kind: "alarm" }, details }];
  });
}

/** A machine whose agent is connected here and reports, and that counts as away or as another server's. */
export function absenceFindings(mistaken: readonly Registration[]): readonly Finding[] {
  return mistaken.map((connection) => ({
    kind: "false_absence",
    subject: `machine ${connection.machineId}`,
    repair: { kind: "takeBack", connection },
    details: { session_number: connection.sessionNumber },
  }));
}

function toldFinding(kind: string, subject: string, machineId: MachineId, details: Finding["details"]): Finding {
  return { kind, subject, repair: { kind: "tellAgain", machineId }, details: { machine_id: machineId, ...details } };
}

function isOlderThan(time: Date, ms: number, now: Date): boolean {
  return now.getTime() - time.getTime() > ms;
}
