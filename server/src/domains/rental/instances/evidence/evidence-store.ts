import { sql } from "kysely";
import type { InstanceId, MachineId, ServerId } from "../../../../base/ids.ts";
import { integers, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { isConnectedTo } from "../../../supply/hosts/for-instances.ts";
import type { RunKey } from "../counting/run-store.ts";

/** A run that its host reports as running, and whose door no server has reached yet. */
export type UnreachedRun = {
  readonly instanceId: InstanceId;
  readonly generation: number;
  readonly machineId: MachineId;
};

/**
 * The unreached runs on machines that are connected to this server, newest first, so that old ones which may never
 * answer do not delay new ones.
 */
export async function listUnreachedRuns(
  db: Reader,
  serverId: ServerId | undefined,
  limit: number,
): Promise<readonly UnreachedRun[]> {
  const { rows } = await sql<UnreachedRun>`
    select run.instance_id as "instanceId", run.generation, instances.machine_id as "machineId"
    from instance_runs run
    join instances on instances.id = run.instance_id and instances.generation = run.generation
    where run.needs_evidence and run.evidence_at is null and run.sealed_at is null
      and ${isConnectedTo(sql`instances.machine_id`, serverId)}
      and instances.observed_generation = run.generation and instances.observed_state = 'running'
    order by run.started_at desc, run.instance_id
    limit ${limit}::integer
  `.execute(db);
  return rows;
}

/**
 * Notes that these runs were reached now, and returns the number of those reached for the first time. The caller holds
 * the locks of their machines.
 */
export async function storeEvidence(tx: Tx, runs: readonly RunKey[]): Promise<number> {
  const { rows } = await sql`
    update instance_runs run set evidence_at = ${tx.now}::timestamptz
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[]
    ) as reached (instance_id, generation)
    where run.instance_id = reached.instance_id and run.generation = reached.generation and run.evidence_at is null
    returning run.instance_id
  `.execute(tx.db);
  return rows.length;
}

/** A host's report that a run has not begun, and the time of the report. */
export type NotRunning = RunKey & { readonly at: Date };

/**
 * Notes for these runs, while they are unproven, that their host reported them as not begun. The time is that of the
 * report: waiting to be stored takes no running time from the host, and makes no contradiction of its next report.
 */
export async function noteNotRunning(tx: Tx, said: readonly NotRunning[]): Promise<void> {
  if (said.length === 0) return;
  await sql`
    update instance_runs run set not_running_at = greatest(run.not_running_at, said.at),
      not_running_by_clock = case when run.not_running_at > said.at
        then run.not_running_by_clock else ${tx.clockId ?? null}::integer end
    from unnest(
      ${integers(said.map((one) => one.instanceId))}::integer[], ${integers(said.map((one) => one.generation))}::integer[],
      ${timestamps(said.map((one) => one.at.getTime()))}::timestamptz[]
    ) as said (instance_id, generation, at)
    where run.instance_id = said.instance_id and run.generation = said.generation and run.metered_from_at is null
  `.execute(tx.db);
}
