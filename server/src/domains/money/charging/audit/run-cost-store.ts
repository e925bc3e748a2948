// The cost of runs, as the audit reads it.
import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

type Run = { readonly instanceId: InstanceId; readonly generation: number };

/** Payments for the running time of these runs. */
export async function sumPaidForRuns(db: Reader, runs: readonly Run[]): Promise<readonly (Run & PaidNanos)[]> {
  if (runs.length === 0) return [];
  const { rows } = await sql<Run & { readonly paid: string }>`
    select wanted.instance_id as "instanceId", wanted.generation, coalesce(sum(l.amount_nanos), 0)::text as paid
    from unnest(
      ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[]
    ) as wanted (instance_id, generation)
    left join charge_lines l on l.instance_id = wanted.instance_id and l.generation = wanted.generation
      and l.component = 'gpu'
    group by 1, 2
  `.execute(db);
  return rows.map(({ paid, ...run }) => ({ ...run, paidNanos: BigInt(paid) }));
}

type PaidNanos = { readonly paidNanos: bigint };
