import { sql } from "kysely";
import { storageNanosPerHour } from "../../../base/hourly-price.ts";
import type { InstanceId, MachineId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";

/** The facts of an instance that other domains read again and again for the instances that they manage. */
export type InstanceFacts = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly phase: Phase;
  readonly desired: DesiredState;
  readonly phaseSinceAt: Date;
  readonly generation: number;
  /** Prices for the devices alone, and for the disk alone. */
  readonly deviceNanosPerHour: Nanos;
  readonly diskNanosPerHour: Nanos;
  /** The host's last report on the present generation; undefined before the first. */
  readonly observed: { readonly state: string; readonly statusMsg: string } | undefined;
};

/** The existing instances among these ids, of any owner, ended or not. */
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
