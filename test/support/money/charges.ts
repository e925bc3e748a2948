import assert from "node:assert/strict";
import type { TestApp } from "../app.ts";

/** Settles all that could ever become due as if its time had come; returns what the loop says of it. */
export async function settleNow(world: TestApp): Promise<unknown> {
  await world.env.pool.query("update instance_tabs set settle_at = $1 where settle_at > $1", [world.clock.now()]);
  return world.runLoop("settle-runs");
}

/**
 * Asserts that charge lines and counters agree: no time and no byte is charged twice or beyond the charged part of its
 * run, and each line is paid by its own transfer. A run that always had a price has all of its charged part on lines.
 */
export async function assertLines({ env }: Pick<TestApp, "env">): Promise<void> {
  const { rows } = await env.pool.query(
    `with line as (
       select *, lag(to_at) over (
         partition by instance_id, volume_id, coalesce(generation, 0), component order by from_at, to_at, id
       ) as last_to_at from charge_lines
     )
     select 'overlap' as problem, id::text as what from line where from_at < last_to_at
     union all
     select 'counters', run.instance_id || ' ' || run.generation || ' ' || sums.component
     from instance_runs run join (
       select instance_id, generation, component, sum(quantity) as quantity from charge_lines
       where generation is not null group by 1, 2, 3
     ) sums using (instance_id, generation)
     where sums.quantity > case sums.component when 'gpu' then run.charged_running_ms
       when 'bwu' then run.charged_sent_bytes else run.charged_received_bytes end
     union all
     select 'not on a line', run.instance_id || ' ' || run.generation
     from instance_runs run join instances i on i.id = run.instance_id and not i.is_background
     where i.price_nanos_per_hour > 0
       and not exists (select from past_terms p where p.instance_id = i.id and p.price_nanos_per_hour = 0)
       and run.charged_running_ms <> coalesce((
       select sum(quantity) from charge_lines l
       where l.instance_id = run.instance_id and l.generation = run.generation and l.component = 'gpu'
     ), 0)
     union all
     select 'before it ran', l.id::text from charge_lines l join instance_tabs t using (instance_id)
     where l.from_at < t.metered_from_at or t.metered_from_at is null
     union all
     select 'transfer', l.id::text from charge_lines l left join ledger_transfers t on t.id = l.transfer_id
     where l.amount_nanos is distinct from coalesce(t.amount_nanos, 0)
     union all
     select 'transfer without a line', t.id::text from ledger_transfers t
     where t.code like 'usage_%' and t.key not like 'deposit:%'
       and not exists (select from charge_lines l where l.transfer_id = t.id)`,
  );
  assert.deepEqual(rows, []);
}

export type StoredLine = {
  readonly component: string;
  readonly state: string;
  readonly cause: string;
  readonly generation: number | null;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly quantity: bigint;
  readonly size_bytes: bigint | null;
  readonly unit_price_nanos: bigint;
  readonly discount_ppm: number;
  readonly amount_nanos: bigint;
  readonly unpaid_nanos: bigint;
  readonly paid_from: string;
};

/** The charge lines of an instance, in the order in which they were written. */
export async function linesOf({ env }: Pick<TestApp, "env">, instanceId: number): Promise<readonly StoredLine[]> {
  const { rows } = await env.pool.query<StoredLine>(
    `select component, state, cause, generation, from_at, to_at, quantity, size_bytes, unit_price_nanos, discount_ppm,
       amount_nanos, unpaid_nanos, paid_from
     from charge_lines where instance_id = $1 order by id`,
    [instanceId],
  );
  return rows;
}
