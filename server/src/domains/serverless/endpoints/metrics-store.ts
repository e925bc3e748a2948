import { sql } from "kysely";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Traffic of an endpoint in one period. */
export type Traffic = {
  readonly endpointId: EndpointGroupId;
  readonly at: Date;
  readonly requestCount: number;
  /** Total units of the period. */
  readonly load: number;
  readonly waitedCount: number;
  readonly waitMs: number;
  readonly waitMsMax: number;
};

/** The traffic of these endpoints in [from, until) by periods of `stepS` seconds since 1970, oldest first for each. */
export async function listTraffic(
  db: Reader,
  endpointIds: readonly EndpointGroupId[],
  { from, until, stepS }: { readonly from: Date; readonly until: Date; readonly stepS: number },
): Promise<readonly Traffic[]> {
  const { rows } = await sql<{
    readonly endpoint_group_id: EndpointGroupId;
    readonly at: Date;
    readonly request_count: number;
    readonly load: number;
    readonly waited_count: number;
    readonly wait_ms: number;
    readonly wait_ms_max: number;
  }>`
    select endpoint_group_id,
      to_timestamp(floor(extract(epoch from second_at) / ${stepS}::integer) * ${stepS}::integer) as at,
      sum(request_count)::integer as request_count, sum(load) as load, sum(waited_count)::integer as waited_count,
      sum(wait_ms)::double precision as wait_ms, max(wait_ms_max) as wait_ms_max
    from endpoint_load
    where endpoint_group_id = any(${[...endpointIds]}::integer[])
      and second_at >= ${from}::timestamptz and second_at < ${until}::timestamptz
    group by 1, 2
    order by 1, 2
  `.execute(db);
  return rows.map((row) => ({
    endpointId: row.endpoint_group_id,
    at: row.at,
    requestCount: row.request_count,
    load: row.load,
    waitedCount: row.waited_count,
    waitMs: row.wait_ms,
    waitMsMax: row.wait_ms_max,
  }));
}
