// Reads faults of hosts for the audit.
import { sql } from "kysely";
import type { Reader } from "../../../../db/transaction.ts";
import type { RunKey } from "../counting/run-store.ts";

/** A fault that was refunded, with the amount. */
export type AuditedFault = RunKey & { readonly creditedNanos: bigint };

/** The faults that were refunded since a moment, and those of these runs. */
export async function listAuditedFaults(
  db: Reader,
  { since, runs }: { readonly since: Date | undefined; readonly runs: readonly RunKey[] },
): Promise<readonly AuditedFault[]> {
  const { rows } = await sql<AuditedFault>`
    select instance_id as "instanceId", generation, credited_nanos as "creditedNanos" from host_faults
    where credited_nanos is not null and (
      settled_at >= coalesce(${since ?? null}::timestamptz, '-infinity') or (instance_id, generation) in (
        select * from unnest(
          ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[]
        )
      )
    )
    order by instance_id, generation
  `.execute(db);
  return rows;
}
