import type { Clock } from "../../../../base/clock.ts";
import type { MachineId } from "../../../../base/ids.ts";
import { unreachable } from "../../../../base/invariant.ts";
import type { Log } from "../../../../base/log.ts";
import type { Database } from "../../../../db/connect.ts";
import { inSnapshot, withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { listMistakenConnections, type Inventory, type Registration } from "../../../supply/hosts/for-audit.ts";
import { takeBackConnections, type OpenConnections } from "../../../supply/hosts/index.ts";
import { listCounted } from "../../../rental/instances/for-audit.ts";
import { listPendingHolds } from "../../ledger/for-audit.ts";
import { releaseHold, type HoldId } from "../../ledger/index.ts";
import { listHeldDevices } from "../../../supply/market/index.ts";
import {
  isVolumeHold,
  listLateVolumes,
  listUnscheduledVolumes,
  listVolumeHolds,
  listVolumePlaces,
  scheduleVolumeSettlement,
} from "../../../supply/volumes/for-audit.ts";
import { claimRun, noteRun, recordFinding, type Outcome } from "./finding-store.ts";
import {
  absenceFindings,
  holdFindings,
  inventoryFindings,
  leaseFindings,
  scheduleFindings,
  lateBefore,
  lateFindings,
  standFindings,
  type Finding,
  type Repair,
} from "./rules/findings.ts";
import { mismatchedHolds, mismatchedLeases } from "../checks/mismatches.ts";
import {
  forgetHold,
  isHoldNamed,
  listHoldOwners,
  listLateEnded,
  listStands,
  listUnscheduled,
  scheduleSettlement,
  settleUnheld,
} from "../../charging/for-audit.ts";

export const RECONCILE_EVERY_MS = 60_000;
/**
 * Time for which a claim keeps other processes away; less than a period, so that small differences of clocks skip no
 * minute.
 */
const CLAIM_MS = 45_000;
/** Repairs per run; the next run does the rest. */
const REPAIRS_MAX = 500;
/** Log lines per run; all findings are stored and counted. */
const LOGGED_MAX = 20;
const UNSCHEDULED_SINCE_MS = 86_400_000;

export type ReconcilePorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The instances and volumes that machines connected to this process report. */
  readonly inventories: () => ReadonlyMap<MachineId, Inventory>;
  /** The connections of agents that are open in this process, with their machines. */
  readonly connections: () => OpenConnections;
  /** Sends the desired set of these machines again. */
  readonly tellAgain: (machineIds: readonly MachineId[]) => void;
};

export type ReconcileCounts = {
  readonly found: number;
  readonly repaired: number;
  readonly told: number;
  readonly alarmed: number;
};

/**
 * Compares ledger, GPU grants, instances and hosts' reports, repairs by rule, and alarms about the rest. One process at
 * a time checks the database, and each process checks the machines that are connected to it.
 */
export async function reconcile(ports: ReconcilePorts): Promise<ReconcileCounts> {
  const { database, clock } = ports;
  const now = clock.now();
  const isMine = await withTransaction(database, clock, (tx) => claimRun(tx, CLAIM_MS));
  const inventories = ports.inventories();
  const findings = await inSnapshot(database, async (db) => [
    ...(isMine ? await findInDatabase(db, now) : []),
    ...(await findOnHosts(db, now, inventories)),
    ...absenceFindings(await findMistaken(db, ports.connections())),
  ]);
  const outcomes: Outcome[] = [];
  for (const finding of findings.slice(0, REPAIRS_MAX)) {
    const outcome = await withTransaction(database, clock, (tx) => deal(tx, finding, ports));
    if (outcome === undefined) continue;
    outcomes.push(outcome);
    if (outcomes.length > LOGGED_MAX) continue;
    const { kind, subject, details } = finding;
    const said = { kind, subject, outcome, ...details };
    if (outcome === "alarmed") ports.log.error(said, "the reconciliation found a mismatch that no rule repairs");
    else ports.log.warn(said, "the reconciliation repaired a mismatch");
  }
  const strangeIds = findings.flatMap(({ repair }) => (repair.kind === "tellAgain" ? repair.machineId : []));
  if (strangeIds.length > 0) ports.tellAgain([...new Set(strangeIds)]);
  if (isMine) await withTransaction(database, clock, (tx) => noteRun(tx, countKinds(findings)));
  const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
  return { found: findings.length, repaired: count("repaired"), told: count("told"), alarmed: count("alarmed") };
}

async function findInDatabase(db: Reader, now: Date): Promise<readonly Finding[]> {
  const stands = await listStands(db);
  const ofVolumes = new Set((await listVolumeHolds(db)).map(({ holdId }) => holdId));
  const pending = (await listPendingHolds(db)).filter(({ id }) => !ofVolumes.has(id));
  const holds = mismatchedHolds(pending, await listHoldOwners(db));
  const since = new Date(now.getTime() - UNSCHEDULED_SINCE_MS);
  const unscheduled = await listUnscheduled(db, since, REPAIRS_MAX);
  return [
    ...holdFindings(holds, now),
    ...standFindings(stands.values(), now),
    ...lateFindings(
      await listLateEnded(db, lateBefore(now), REPAIRS_MAX),
      await listLateVolumes(db, lateBefore(now), REPAIRS_MAX),
    ),
    ...scheduleFindings(unscheduled, await listUnscheduledVolumes(db, REPAIRS_MAX)),
    ...leaseFindings(mismatchedLeases(stands, await listHeldDevices(db)), now),
  ];
}

async function findOnHosts(
  db: Reader,
  now: Date,
  inventories: ReadonlyMap<MachineId, Inventory>,
): Promise<readonly Finding[]> {
  if (inventories.size === 0) return [];
  const stands = await listStands(db);
  const here = [...stands.values()].filter(({ machineId }) => inventories.has(machineId));
  const counted = await listCounted(
    db,
    here.map(({ id, generation }) => ({ instanceId: id, generation })),
  );
  const volumePlaces = await listVolumePlaces(db);
  return inventoryFindings({ inventories, stands, volumePlaces, counted }, now);
}

function findMistaken(db: Reader, { open, serverId }: OpenConnections): Promise<readonly Registration[]> {
  return listMistakenConnections(db, open, serverId);
}

/** Repairs a finding that still exists, and stores it in the same transaction; undefined when it is gone. */
async function deal(
  tx: Tx,
  { kind, subject, repair, details }: Finding,
  ports: ReconcilePorts,
): Promise<Outcome | undefined> {
  const outcome = await apply(tx, repair, ports);
  if (outcome !== undefined) await recordFinding(tx, { kind, subject, outcome, details });
  return outcome;
}

async function isNamed(tx: Tx, holdId: HoldId): Promise<boolean> {
  return (await isHoldNamed(tx, holdId)) || (await isVolumeHold(tx.db, holdId));
}

async function apply(tx: Tx, repair: Repair, ports: ReconcilePorts): Promise<Outcome | undefined> {
  const done = (isDone: boolean) => (isDone ? "repaired" : undefined);
  switch (repair.kind) {
    case "releaseHold":
      return done(!(await isNamed(tx, repair.holdId)) && (await releaseHold(tx, repair.holdId)));
    case "forgetHold":
      return done(await forgetHold(tx, repair.id, repair.holdId));
    case "settleUnheld":
      return done(await settleUnheld(tx, repair.id));
    case "scheduleInstance":
      return done(await scheduleSettlement(tx, repair.id));
    case "scheduleVolume":
      return done(await scheduleVolumeSettlement(tx, repair.id));
    case "takeBack":
      return done((await takeBackConnections(tx, [repair.connection], ports.connections)).length > 0);
    case "tellAgain":
      return "told";
    case "alarm":
      return "alarmed";
    default:
      return unreachable(repair);
  }
}

function countKinds(findings: readonly Finding[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
