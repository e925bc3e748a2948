import { invalid, unprocessable } from "../../../../base/errors.ts";
import { parseMoment } from "../../../../base/moment.ts";
import type { Maintenance } from "../../hosts/index.ts";
import type { MaintenanceCategory, NewMaintenance } from "../../hosts/for-listings.ts";

/** A host's announcement of a maintenance. */
export type MaintenanceRequest = {
  /** Seconds since 1970, as a number or text, or an ISO date. */
  readonly sdate: number | string;
  /** Duration in hours. */
  readonly duration: number;
  readonly maintenance_reason?: string;
  readonly maintenance_category?: MaintenanceCategory;
};

type Window = Omit<NewMaintenance, "machineId">;

const HOUR_MS = 3_600_000;
const HOURS_MAX = 720;
const AHEAD_MS = 366 * 24 * HOUR_MS;
/** Clocks differ, and a request takes time: a maintenance that begins now may name a time slightly in the past. */
const LATE_MS = 300_000;
const WINDOWS_MAX = 20;

/** The maintenance window of a request, checked against those of the machine; throws naming the field. */
export function planMaintenance(request: MaintenanceRequest, others: readonly Maintenance[], now: Date): Window {
  const startAt = parseMoment(String(request.sdate), { isEnd: false });
  if (startAt === undefined) throw invalid("sdate", "sdate must be seconds since 1970, or an ISO 8601 date and time");
  if (startAt.getTime() < now.getTime() - LATE_MS) throw invalid("sdate", "sdate must not lie in the past");
  if (startAt.getTime() > now.getTime() + AHEAD_MS) throw invalid("sdate", "sdate must lie within a year from now");
  const { duration } = request;
  const lengthMs = Math.round(duration * HOUR_MS);
  if (!(lengthMs >= 1000 && duration <= HOURS_MAX)) {
    throw invalid("duration", `duration must be a number of hours above 0, and at most ${HOURS_MAX}`);
  }
  const endAt = new Date(startAt.getTime() + lengthMs);
  const overlapping = others.find((other) => other.startAt < endAt && startAt < other.endAt);
  if (overlapping !== undefined) {
    const from = overlapping.startAt.toISOString();
    throw unprocessable("sdate", `Another maintenance of this machine begins at ${from}. Cancel it first.`);
  }
  if (others.length >= WINDOWS_MAX) {
    throw unprocessable(
      "sdate",
      `This machine has ${WINDOWS_MAX} maintenances ahead of it already. Cancel them first.`,
    );
  }
  const { maintenance_category: category = "not provided", maintenance_reason: reason = "" } = request;
  return { startAt, endAt, category, reason };
}
