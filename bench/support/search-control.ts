import type { Database } from "../../server/src/db/connect.ts";

/**
 * The control of the search benchmark: the same offers as rows of one table of PostgreSQL, worked out in SQL from the
 * tables of the market, with the indexes that the searches of the benchmark wish for.
 */
export async function prepareSearchControl({ pool }: Database): Promise<void> {
  await pool.query("drop table if exists bench_search");
  await pool.query(`
    create table bench_search as
    select o.id, o.machine_id, m.host_id, gpu.name as gpu_name, o.device_count as num_gpus, gpu.ram as gpu_ram,
      m.verification = 'verified' as verified, false as external, m.is_connected and m.is_listed as rentable,
      m.reliability_ppm / 1e6::double precision as reliability,
      (m.facts ->> 'inet_down_mbps')::double precision as inet_down,
      price.dph_base, price.storage_cost, total.dollars as dph_total,
      floor((m.facts ->> 'disk_bytes')::numeric * o.device_count / present.count / 1e8) / 10 as disk_space,
      work.dlperf, work.dlperf / greatest(total.dollars, 0.001) * (m.reliability_ppm / 1e6::double precision)
        * (1 + 0.02::double precision * (o.device_count::double precision / present.count)) as score,
      m.facts
    from offers o
    join machines m on m.id = o.machine_id
    cross join lateral (
      select facts ->> 'name' as name, (facts ->> 'memory_mb')::integer as ram, (facts ->> 'dlperf')::numeric as dlperf
      from devices d where d.machine_id = m.id order by position limit 1
    ) as gpu
    cross join lateral (select count(*) from devices d where d.machine_id = m.id) as present
    cross join lateral (
      select ((m.price_device_nanos_per_hour * o.device_count)::numeric / 1e9)::double precision as dph_base,
        (m.price_disk_nanos_per_gb_month::numeric / 1e9)::double precision as storage_cost
    ) as price
    -- As the search does it: in doubles, for 8 GB of storage and the hours of a month of 30 days.
    cross join lateral (select price.dph_base + price.storage_cost * 8 / 720 as dollars) as total
    cross join lateral (select (gpu.dlperf * o.device_count)::double precision as dlperf) as work
    where o.retired_at is null`);
  await pool.query("create index on bench_search (gpu_name, dph_total, id)");
  await pool.query("create index on bench_search (score desc, id) where verified and rentable");
  await pool.query("create index on bench_search (score desc, id)");
  await pool.query("vacuum (full, analyze) bench_search");
}

/** A condition as the API takes it, in SQL. */
function conditionText([field, conditions]: readonly [string, Readonly<Record<string, unknown>>]): string {
  const symbols: Readonly<Record<string, string>> = { eq: "=", gte: ">=", lte: "<=" };
  return Object.entries(conditions)
    .map(
      ([operator, value]) =>
        `${field} ${symbols[operator]} ${typeof value === "string" ? `'${value}'` : String(value)}`,
    )
    .join(" and ");
}

export type ControlQuery = {
  readonly conditions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly order: readonly [column: string, direction: "asc" | "desc"];
};

/** The ids of the first `limit` rows. */
export async function searchControl(
  { pool }: Database,
  query: ControlQuery,
  limit: number,
): Promise<readonly number[]> {
  const where = [...Object.entries(query.conditions).map(conditionText), "disk_space >= 8"].join(" and ");
  const { rows } = await pool.query<{ id: number }>({
    text: `select * from bench_search where ${where} order by ${query.order.join(" ")}, id limit $1`,
    values: [limit],
  });
  return rows.map(({ id }) => id);
}
