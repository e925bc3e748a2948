import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { Phase } from "./rules/lifecycle.ts";

export type DeviceProblem = { readonly instanceId: InstanceId; readonly problem: string };
export type ChangedProblem = DeviceProblem & {
  readonly machineId: MachineId;
  readonly phase: Phase;
  readonly generation: number;
  readonly hadProblem: boolean;
};

/** Notes the device problem of instances; empty for none. Returns the instances for which it changed. */
export async function setDeviceProblems(
  tx: Tx,
  problems: readonly DeviceProblem[],
): Promise<readonly ChangedProblem[]> {
  if (problems.length === 0) return [];
  const { rows } = await sql<{
    id: InstanceId;
    machine_id: MachineId;
    phase: Phase;
    generation: number;
    problem: string;
    had_problem: boolean;
  }>`
    with found as (
      select instances.id, instances.device_problem <> '' as had_problem, said.problem
      from unnest(
        ${problems.map((one) => one.instanceId)}::integer[], ${problems.map((one) => one.problem)}::text[]
      ) as said (id, problem)
      join instances on instances.id = said.id
      where instances.device_problem <> said.problem
    )
    update instances set device_problem = found.problem from found where instances.id = found.id
    returning instances.id, instances.machine_id, instances.phase, instances.generation, found.problem, found.had_problem
  `.execute(tx.db);
  return rows.map((row) => ({
    instanceId: row.id,
    machineId: row.machine_id,
    phase: row.phase,
    generation: row.generation,
    problem: row.problem,
    hadProblem: row.had_problem,
  }));
}
