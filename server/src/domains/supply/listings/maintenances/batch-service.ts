import { AppError, invalid, unprocessable } from "../../../../base/errors.ts";
import { asId, type MachineId, type MachineMaintenanceId, type UserId } from "../../../../base/ids.ts";
import { parseMoment } from "../../../../base/moment.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { cancelOneMaintenance, findMaintenances, type MaintenanceCategory } from "../../hosts/for-listings.ts";
import { noteOnRentals } from "../../../rental/instances/for-listings.ts";
import { lockOwnMachines, noSuchMachine } from "../own-machine.ts";
import { scheduleMaintenance } from "../upkeep-service.ts";

export type BatchRequest = {
  readonly machine_ids: readonly number[];
  readonly sdate?: unknown;
  readonly duration?: number;
  readonly maintenance_reason?: string;
  readonly maintenance_category?: MaintenanceCategory;
};

const YEAR_MS = 365 * 24 * 3_600_000;

type Scheduled = { readonly success: boolean; readonly machine_id: number } & (
  | { readonly maintenance_id: number; readonly notifications_sent: number }
  | { readonly error: string; readonly msg: string }
);

/**
 * Announces one maintenance on each of these machines, or says of each why not; throws when none of them got it. All
 * machines are locked first, in id order.
 */
export async function scheduleBatch(tx: Tx, hostId: UserId, request: BatchRequest): Promise<readonly Scheduled[]> {
  const { machine_ids: asked, duration = 1, maintenance_category: category = "other", ...rest } = request;
  const sdate = readStart(request.sdate, tx.now);
  if (!(duration > 0)) throw invalid("duration", "duration must be a number of hours above 0");
  const said = { ...rest, sdate, duration: Math.max(1, duration), maintenance_category: category };
  const ids = [...new Set(asked)];
  const own = await lockOwnMachines(
    tx,
    hostId,
    ids.map((id) => asId<MachineId>(id)),
  );
  const results: Scheduled[] = [];
  for (const id of ids) {
    if (!own.has(id)) {
      const { publicMessage } = noSuchMachine(id);
      results.push({ success: false, machine_id: id, error: "not_found", msg: publicMessage });
      continue;
    }
    try {
      const { maintenanceId, renterCount } = await scheduleMaintenance(tx, { hostId, machineId: id }, said);
      results.push({ success: true, machine_id: id, maintenance_id: maintenanceId, notifications_sent: renterCount });
    } catch (error) {
      // Refused before anything was written, so that the other machines still get theirs.
      if (!(error instanceof AppError) || error.kind !== "unprocessable") throw error;
      results.push({ success: false, machine_id: id, error: error.code, msg: error.publicMessage });
    }
  }
  if (results.some(({ success }) => success)) return results;
  throw invalid("machine_ids", "No machine of machine_ids got the maintenance: results say why.", "invalid_args", {
    extra: { results },
  });
}

/** The beginning of a batch. Its refusals have the published status 422, unlike those of a single machine. */
function readStart(sdate: unknown, now: Date): string {
  const text = typeof sdate === "number" || typeof sdate === "string" ? String(sdate) : "";
  const startAt = parseMoment(text, { isEnd: false });
  if (startAt === undefined) {
    throw unprocessable("sdate", "sdate must be seconds since 1970, or an ISO 8601 date and time");
  }
  if (startAt <= now) throw unprocessable("sdate", "sdate must lie in the future");
  if (startAt.getTime() > now.getTime() + YEAR_MS)
    throw unprocessable("sdate", "sdate must lie within a year from now");
  return text;
}

type Cancelled = { readonly success: boolean; readonly maintenance_id: number; readonly msg: string };

/** Cancels maintenances of own machines that are not over, or says of each why not. Locks all machines first. */
async function cancelEach(tx: Tx, hostId: UserId, asked: readonly number[]): Promise<readonly Cancelled[]> {
  const ids = [...new Set(asked)].map((id) => asId<MachineMaintenanceId>(id));
  const found = await findMaintenances(tx.db, ids);
  const own = await lockOwnMachines(tx, hostId, [...new Set([...found.values()].map(({ machineId }) => machineId))]);
  const results: Cancelled[] = [];
  for (const id of ids) {
    const maintenance = found.get(id);
    if (maintenance === undefined || !own.has(maintenance.machineId)) {
      results.push({ success: false, maintenance_id: id, msg: `You have no maintenance ${id}.` });
    } else if (await cancelOneMaintenance(tx, id)) {
      const reason = { actor: `user:${hostId}`, cause: "maintenance_cancelled" } as const;
      await noteOnRentals(tx, maintenance.machineId, reason);
      results.push({ success: true, maintenance_id: id, msg: `Maintenance ${id} is cancelled.` });
    } else {
      const isOver = !maintenance.isCancelled && maintenance.endAt <= tx.now;
      const msg = `Maintenance ${id} is ${isOver ? "over" : "cancelled already"}.`;
      results.push({ success: false, maintenance_id: id, msg });
    }
  }
  return results;
}

/** Cancels one maintenance and returns a sentence; throws with the reason when it cannot be cancelled. */
export async function cancelById(tx: Tx, hostId: UserId, maintenanceId: number): Promise<string> {
  const [result] = await cancelEach(tx, hostId, [maintenanceId]);
  if (result?.success !== true) throw invalid("maintenance_id", result?.msg ?? "");
  return result.msg;
}

/** Cancels these maintenances, or says of each why not; throws when none of them was cancelled. */
export async function cancelBatch(tx: Tx, hostId: UserId, asked: readonly number[]): Promise<readonly Cancelled[]> {
  const results = await cancelEach(tx, hostId, asked);
  if (results.some(({ success }) => success)) return results;
  throw invalid("maintenance_ids", "No maintenance was cancelled: results say why.", "invalid_args", {
    extra: { results },
  });
}
