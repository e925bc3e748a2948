import { sql } from "kysely";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { LoadSample } from "../autoscaling/rules/types.ts";

/** The traffic of an endpoint by the second from then on, oldest first. */
export async function listSamples(
  db: Reader,
  endpointGroupId: EndpointGroupId,
  from: Date,
): Promise<readonly LoadSample[]> {
  const rows = await db
    .selectFrom("endpoint_load")
    .select(["second_at", "request_count", "load", "waited_count", "wait_ms_max"])
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("second_at", ">=", from)
    .orderBy("second_at")
    .execute();
  return rows.map((row) => ({
    secondMs: row.second_at.getTime(),
    requestCount: row.request_count,
    load: row.load,
    waitedCount: row.waited_count,
    waitMsMax: row.wait_ms_max,
  }));
}

/** One page of an endpoint's traffic in [from, until), as triples of Unix seconds, requests and load. */
export async function readSeconds(
  db: Reader,
  endpointGroupId: EndpointGroupId,
  { from, until, limit }: { readonly from: Date; readonly until: Date; readonly limit: number },
): Promise<Float64Array<ArrayBuffer>> {
  const rows = await db
    .selectFrom("endpoint_load")
    .select([sql<number>`extract(epoch from second_at)::integer`.as("second"), "request_count", "load"])
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("second_at", ">=", from)
    .where("second_at", "<", until)
    .orderBy("second_at")
    .limit(limit)
    .execute();
  const numbers = new Float64Array(3 * rows.length);
  rows.forEach((row, index) => numbers.set([row.second, row.request_count, row.load], 3 * index));
  return numbers;
}
