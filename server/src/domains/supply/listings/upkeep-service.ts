import { conflict, forbidden } from "../../../base/errors.ts";
import type { MachineId, MachineMaintenanceId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  cancelMaintenances,
  insertMaintenance,
  listHosted,
  markMachineDeleted,
  type NewMaintenance,
} from "../hosts/for-listings.ts";
import { listMaintenances, type Maintenance } from "../hosts/index.ts";
import { destroyInstances, listMachineIdsOf, listRentals } from "../../rental/instances/index.ts";
import { hasRentedOn, noteOnRentals, removeBackground } from "../../rental/instances/for-listings.ts";
import { refreshOffers } from "../market/index.ts";
import { postNotifications } from "../../notifications/index.ts";
import { hasLocalVolumes, unlistSpaceOf } from "../volumes/for-listings.ts";
import { refuseMachineDeletion } from "./rules/machine-refusals.ts";
import { planMaintenance, type MaintenanceRequest } from "./rules/maintenance.ts";
import { findOwnMachine, lockOwnMachine, noSuchMachine, toMachineId, type HostRequest } from "./own-machine.ts";
import { countOtherReports, deleteDefaultJob, listReports, putReport, type Report } from "./store.ts";

/** Announces a maintenance to all renters on the machine; returns its id and their number. */
export async function scheduleMaintenance(
  tx: Tx,
  request: HostRequest,
  said: MaintenanceRequest,
): Promise<{ readonly maintenanceId: MachineMaintenanceId; readonly renterCount: number }> {
  const { id, hostId } = await lockOwnMachine(tx, request);
  const planned = planMaintenance(said, await listMaintenances(tx.db, [id], tx.now), tx.now);
  const maintenanceId = await insertMaintenance(tx, { machineId: id, ...planned });
  await noteOnRentals(tx, id, { actor: `user:${hostId}`, cause: "maintenance_scheduled" });
  const renters = await rentersOf(tx.db, id, hostId);
  await tellMaintenance(tx, { machineId: id, ...planned }, { hostId, renters });
  return { maintenanceId, renterCount: renters.size };
}

async function tellMaintenance(
  tx: Tx,
  { machineId, startAt, endAt, reason }: NewMaintenance,
  { hostId, renters }: { readonly hostId: UserId; readonly renters: ReadonlySet<UserId> },
): Promise<void> {
  const window = `from ${textOf(startAt)} to ${textOf(endAt)} UTC`;
  const told = {
    subject: `Maintenance of machine ${machineId} at ${textOf(startAt)} UTC`,
    message: `Machine ${machineId} is down for maintenance ${window}.${reason === "" ? "" : ` Its host says: ${reason}`}`,
    key: `maintenance_scheduled:${machineId}:${startAt.getTime()}:${tx.now.getTime()}`,
  };
  await postNotifications(tx, [
    ...[...renters].map((userId) => ({ ...told, userId, kind: "client:maintenance_scheduled" as const })),
    { ...told, userId: hostId, kind: "host:maintenance_scheduled" as const },
  ]);
}

function textOf(at: Date): string {
  return at.toISOString().slice(0, 16).replace("T", " ");
}

/** Cancels every maintenance of the machine that is not over; returns how many. */
export async function cancelMaintenance(
  tx: Tx,
  request: HostRequest,
): Promise<{ readonly machineId: MachineId; readonly cancelled: number }> {
  const { id, hostId } = await lockOwnMachine(tx, request);
  const cancelled = await cancelMaintenances(tx, id);
  if (cancelled > 0) await noteOnRentals(tx, id, { actor: `user:${hostId}`, cause: "maintenance_cancelled" });
  return { machineId: id, cancelled };
}

/** Present and future maintenances of machines that the user hosts or rents on, among `machineIds` when given. */
export async function listMaintenancesFor(
  db: Reader,
  userId: UserId,
  { machineIds, now }: { readonly machineIds: readonly number[] | undefined; readonly now: Date },
): Promise<readonly Maintenance[]> {
  const hosted = (await listHosted(db, { hostId: userId })).map((machine) => machine.id);
  const known = new Set([...hosted, ...(await listMachineIdsOf(db, userId))]);
  const asked = machineIds === undefined ? undefined : new Set(machineIds);
  const ids = [...known].filter((id) => asked === undefined || asked.has(id));
  return listMaintenances(db, ids, now);
}

export async function rentersOf(db: Reader, machineId: MachineId, hostId: UserId): Promise<ReadonlySet<UserId>> {
  const renters = new Set((await listRentals(db, [machineId])).map((rental) => rental.userId));
  renters.delete(hostId);
  return renters;
}

/** Destroys instances on the machine whose rentals have ended. */
export async function cleanUp(
  tx: Tx,
  request: HostRequest,
): Promise<{ readonly machineId: MachineId; readonly deleted: number }> {
  const { id, hostId } = await lockOwnMachine(tx, request);
  return { machineId: id, deleted: await destroyExpired(tx, id, hostId) };
}

async function destroyExpired(tx: Tx, machineId: MachineId, hostId: UserId): Promise<number> {
  const rentals = await listRentals(tx.db, [machineId]);
  const expired = rentals.filter((rental) => rental.endAt <= tx.now).map((rental) => rental.id);
  return destroyInstances(tx, expired, { actor: `user:${hostId}`, cause: "contract_cleaned_up" });
}

/**
 * Deletes a machine from every list, with its host's job and what expired rentals left. Refused while another user
 * rents there. It comes back, unlisted and with its history, when it joins again.
 */
export async function deleteMachine(tx: Tx, request: HostRequest): Promise<void> {
  const { id, hostId } = await lockOwnMachine(tx, request);
  const rentals = await listRentals(tx.db, [id]);
  const hasVolumes = await hasLocalVolumes(tx.db, id);
  const refused = refuseMachineDeletion({ id, hostId }, { rentals, hasVolumes, now: tx.now });
  if (refused !== undefined) throw refused;
  await deleteDefaultJob(tx, id);
  await removeBackground(tx, id, `user:${hostId}`);
  const left = rentals.map((rental) => rental.id);
  await destroyInstances(tx, left, { actor: `user:${hostId}`, cause: "machine_deleted" });
  await cancelMaintenances(tx, id);
  await unlistSpaceOf(tx, id);
  await markMachineDeleted(tx, id);
  await refreshOffers(tx, [id]);
}

const PROBLEMS_PER_RENTER_MAX = 20;
const REPORTS_MAX = 100;
/** Characters of a report in its notification; the machine's reports show the whole text. */
const REPORT_SHOWN_MAX = 2_000;

/** Stores a renter's report about a machine on which this renter rents, or has rented. */
export async function reportMachine(
  tx: Tx,
  userId: UserId,
  said: { readonly machineId: number; readonly problem: string; readonly message: string },
): Promise<void> {
  const id = toMachineId(said.machineId);
  if (id === undefined) throw noSuchMachine(said.machineId);
  const [machine] = await listHosted(tx.db, { ids: [id] });
  if (machine?.hostId === userId) throw forbidden("A host's word on the own machine is no report.");
  if (machine === undefined || !(await hasRentedOn(tx.db, userId, id))) throw noSuchMachine(said.machineId);
  const report = { ...said, machineId: id, userId };
  if ((await countOtherReports(tx.db, report)) >= PROBLEMS_PER_RENTER_MAX) {
    throw conflict(
      "too_many_reports",
      `You have reported ${PROBLEMS_PER_RENTER_MAX} problems of this machine already.`,
    );
  }
  await putReport(tx, report);
  const { problem, message } = said;
  await postNotifications(tx, [
    {
      userId: machine.hostId,
      kind: "host:machine_reported",
      subject: `A renter reports a problem of machine ${id}`,
      message: `A renter of machine ${id} reports: ${problem}.${message === "" ? "" : `\n\n${message.slice(0, REPORT_SHOWN_MAX).toWellFormed()}`}`,
      // The same report, renewed, is not notified again.
      key: `machine_reported:${id}:${userId}:${problem}`,
    },
  ]);
}

/** The newest reports on the caller's machine, without their authors. */
export async function showReports(db: Reader, { hostId, machineId }: HostRequest): Promise<readonly Report[]> {
  const id = toMachineId(machineId);
  if (id === undefined || (await findOwnMachine(db, hostId, id)) === undefined) throw noSuchMachine(machineId);
  return listReports(db, id, REPORTS_MAX);
}
