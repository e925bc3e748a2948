import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { FaultReason } from "./rules/host-fault.ts";
import type { RunKey } from "../counting/run-store.ts";

export type HostFault = RunKey & { readonly reason: FaultReason };

/** Notes that these runs ended by a fault of their hosts, each once; runs that never ran are left out. */
export async function insertHostFaults(tx: Tx, faults: readonly HostFault[]): Promise<void> {
  if (faults.length === 0) return;
  await sql`
    insert into host_faults (instance_id, generation, reason, at)
    select run.instance_id, run.generation, fault.reason, ${tx.now}::timestamptz
    from unnest(
      ${faults.map((fault) => fault.instanceId)}::integer[], ${faults.map((fault) => fault.generation)}::integer[],
      ${faults.map((fault) => fault.reason)}::text[]
    ) as fault (instance_id, generation, reason)
    join instance_runs run using (instance_id, generation)
    join instances on instances.id = run.instance_id
    where run.metered_from_at is not null and not instances.is_background
    order by run.instance_id, run.generation
    on conflict do nothing
  `.execute(tx.db);
}

/** A fault that is not refunded yet, with the counters of its run. */
export type OpenFault = HostFault & {
  readonly meteredFromAt: Date;
  readonly runningMs: bigint;
  /** True when the run is charged up to the last millisecond. */
  readonly isCharged: boolean;
};

export async function listOpenFaults(db: Reader, ids: readonly InstanceId[]): Promise<readonly OpenFault[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<OpenFault>`
    select fault.instance_id as "instanceId", fault.generation, fault.reason, run.metered_from_at as "meteredFromAt",
      run.running_ms as "runningMs", run.charged_running_ms = run.running_ms as "isCharged"
    from host_faults fault join instance_runs run using (instance_id, generation)
    where fault.instance_id = any(${[...ids]}::integer[]) and fault.settled_at is null
    order by fault.instance_id, fault.generation
  `.execute(db);
  return rows;
}

/** Notes refunds, together with their transfers. The caller holds the locks of the instances. */
export async function closeFaults(
  tx: Tx,
  closed: readonly (RunKey & { readonly creditedNanos: bigint })[],
): Promise<void> {
  if (closed.length === 0) return;
  await sql`
    update host_faults set settled_at = ${tx.now}::timestamptz, credited_nanos = closed.credited
    from unnest(
      ${closed.map((fault) => fault.instanceId)}::integer[], ${closed.map((fault) => fault.generation)}::integer[],
      ${closed.map((fault) => fault.creditedNanos)}::bigint[]
    ) as closed (instance_id, generation, credited)
    where host_faults.instance_id = closed.instance_id and host_faults.generation = closed.generation
      and host_faults.settled_at is null
  `.execute(tx.db);
}
