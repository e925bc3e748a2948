import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { Instance } from "../instance.ts";
import type { DesiredState, Phase } from "./rules/lifecycle.ts";

export type PhaseChange = {
  readonly from: Instance;
  readonly to: Phase;
  readonly cause: string;
  readonly generation: number;
  readonly deadlineAt: Date | null;
  /** The time at which it had to leave for a higher claim; undefined when it does not leave for one now. */
  readonly displacedAt: Date | undefined;
  /** True when it gives its devices back, and their problem with them. */
  readonly isRelease: boolean;
};

/**
 * The one writer of `phase`. Returns the number of moved instances, which is smaller than given when another
 * transaction moved one since it was read.
 */
export async function updatePhases(tx: Tx, changes: readonly PhaseChange[]): Promise<number> {
  if (changes.length === 0) return 0;
  const column = <T>(pick: (change: PhaseChange) => T) => changes.map(pick);
  const result = await sql`
    update instances set
      phase = change.to_phase,
      phase_cause = change.cause,
      phase_since_at = ${tx.now}::timestamptz,
      deadline_at = change.deadline_at,
      generation = change.generation,
      displaced_at = coalesce(change.displaced_at, instances.displaced_at),
      ended_at = case when change.to_phase = 'ended' then ${tx.now}::timestamptz else instances.ended_at end,
      device_problem = case when change.is_release then '' else instances.device_problem end
    from unnest(
      ${column(({ from }) => from.id)}::integer[], ${column(({ from }) => from.phase)}::text[],
      ${column(({ from }) => from.generation)}::integer[], ${column(({ to }) => to)}::text[],
      ${column(({ cause }) => cause)}::text[], ${column(({ generation }) => generation)}::integer[],
      ${column(({ deadlineAt }) => deadlineAt)}::timestamptz[],
      ${column(({ displacedAt }) => displacedAt ?? null)}::timestamptz[],
      ${column(({ isRelease }) => isRelease)}::boolean[]
    ) as change (id, from_phase, from_generation, to_phase, cause, generation, deadline_at, displaced_at, is_release)
    where instances.id = change.id and instances.phase = change.from_phase
      and instances.generation = change.from_generation
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

/** The one writer of `desired`. */
export async function setDesired(
  tx: Tx,
  wanted: readonly { readonly id: InstanceId; readonly desired: DesiredState }[],
): Promise<void> {
  if (wanted.length === 0) return;
  await sql`
    update instances set desired = wanted.desired
    from unnest(${wanted.map(({ id }) => id)}::integer[], ${wanted.map(({ desired }) => desired)}::text[])
      as wanted (id, desired)
    where instances.id = wanted.id
  `.execute(tx.db);
}
