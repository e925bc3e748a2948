import { sql } from "kysely";
import type { EndpointGroupId, UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { notifyEndpoints } from "./store.ts";

/**
 * Sets the endpoints of these accounts to `stopped`: no request is routed, and no worker is started or rented.
 * Returns how many were not stopped before. An endpoint that another transaction has locked is left to the next call.
 */
export async function stopEndpointsOf(tx: Tx, userIds: readonly UserId[]): Promise<number> {
  const { rows } = await sql<{ id: EndpointGroupId }>`
    update endpoint_groups set state = 'stopped'
    where id in (
      select id from endpoint_groups
      where user_id = any(${[...userIds]}::integer[]) and deleted_at is null and state <> 'stopped'
      for no key update skip locked
    )
    returning id
  `.execute(tx.db);
  await notifyEndpoints(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}
