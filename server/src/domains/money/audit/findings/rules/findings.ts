import type { InstanceId, MachineId, VolumeId } from "../../../../../base/ids.ts";
import type { Inventory, Registration } from "../../../../supply/hosts/for-audit.ts";
import type { CountedRun } from "../../../../rental/instances/for-audit.ts";
import type { HoldId } from "../../../ledger/index.ts";
import type { PendingHold } from "../../../ledger/for-audit.ts";
import type { HoldMismatches, LeaseMismatch } from "../../checks/mismatches.ts";
import type { HoldOwner, Stand } from "../../../charging/for-audit.ts";

/** The action of a rule; `alarm` leaves the finding to a person. */
export type Repair =
  | { readonly kind: "releaseHold"; readonly holdId: HoldId }
  | { readonly kind: "forgetHold"; readonly id: InstanceId; readonly holdId: HoldId }
  | { readonly kind: "settleUnheld"; readonly id: InstanceId }
  | { readonly kind: "scheduleInstance"; readonly id: InstanceId }
  | { readonly kind: "scheduleVolume"; readonly id: VolumeId }
  | { readonly kind: "tellAgain"; readonly machineId: MachineId }
  | { readonly kind: "takeBack"; readonly connection: Registration }
  | { readonly kind: "alarm" };

/** A mismatch between two of ledger, GPU grants, instances and hosts. */
export type Finding = {
  readonly kind: string;
  /** `hold 7`, `instance 12`. */
  readonly subject: string;
  readonly repair: Repair;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
};

/** Age from which a rule considers a mismatch: changes that are under way have arrived by then. */
const SETTLED_MS = 120_000;
/** Time after which a phase that should last a minute is stuck. */
const STUCK_MS = 600_000;
/** Age of a count from which a run is not being billed: counters of a run are stored once a minute. */
const UNCOUNTED_MS = 300_000;
/**
 * Running time that a host has counted and the server has not stored, at least; a host that stands still counts none.
 */
const UNBILLED_MS = 60_000;

/** Stray holds are released, and instances forget holds that are closed. */
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

/** Mismatched GPU grants are only reported: without a report of the host, nobody knows what still runs on its GPUs. */
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

/** Instances that run without a hold, whose settlement is late, or whose phase is stuck. */
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

/** The moment before which a due settlement is late. */
export function lateBefore(now: Date): Date {
  return new Date(now.getTime() - STUCK_MS);
}

/** Ended instances, and volumes, whose settlement was due long ago. */
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

/**
 * True for an instance that needs a hold and has none. One that a deposit pays needs none; one that is settled soon
 * gets one, or is stopped.
 */
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

/** Reports of hosts, with the facts that they should match. */
export type InventoryFacts = {
  readonly inventories: ReadonlyMap<MachineId, Inventory>;
  readonly stands: ReadonlyMap<InstanceId, Stand>;
  readonly volumePlaces: ReadonlyMap<VolumeId, MachineId | undefined>;
  /** The stored counters of current runs, by instance. */
  readonly counted: ReadonlyMap<InstanceId, CountedRun>;
};

/** Hosts that have instances of others, or lack one that they should run; they are sent their desired sets again. */
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
 * Runs whose reported counters are far above the stored ones, or are not stored any more: either the report is
 * impossible, or the run is not paid for.
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

/** Machines whose agents are connected here and report, but that count as away or as another server's. */
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
