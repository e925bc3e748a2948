import { sql } from "kysely";
import { storageNanosPerHour } from "../../../base/hourly-price.ts";
import type { InstanceId, MachineId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";

/** What those who run instances on somebody's behalf look at again and again: the little that changes. */
export type InstanceFacts = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly phase: Phase;
  readonly desired: DesiredState;
  readonly phaseSinceAt: Date;
  readonly generation: number;
  /** For its devices alone, and for its disk alone. */
  readonly deviceNanosPerHour: Nanos;
  readonly diskNanosPerHour: Nanos;
  /** What its host said last of the present generation; undefined until it said something. */
  readonly observed: { readonly state: string; readonly statusMsg: string } | undefined;
};

/** Those of these that exist, whoever owns them and whether they are over or not. */
export async function listInstanceFacts(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, InstanceFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("instances")
    .select([
      "id",
      "machine_id",
      "phase",
      "desired",
      "phase_since_at",
      "generation",
      "price_nanos_per_hour",
      "storage_nanos_per_gb_month",
      "disk_bytes",
      "observed_generation",
      "observed_state",
      "observed_status_msg",
    ])
    .where("id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => {
      const disk = { storageNanosPerGbMonth: row.storage_nanos_per_gb_month, diskBytes: row.disk_bytes };
      const isCurrent = row.observed_state !== null && row.observed_generation === row.generation;
      const facts = {
        id: row.id,
        machineId: row.machine_id,
        phase: row.phase,
        desired: row.desired,
        phaseSinceAt: row.phase_since_at,
        generation: row.generation,
        deviceNanosPerHour: nanos(row.price_nanos_per_hour),
        diskNanosPerHour: nanos(storageNanosPerHour(disk)),
        observed: isCurrent ? { state: row.observed_state ?? "", statusMsg: row.observed_status_msg } : undefined,
      };
      return [row.id, facts];
    }),
  );
}
