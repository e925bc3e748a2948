import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";
import type { Registration } from "../store.ts";

/** Calls per hour to the address that one machine names. */
const CALLS_PER_HOUR = 10;

/**
 * Counts one call to the address of a machine; false when it has had its calls of the hour, or has a newer connection.
 */
export async function countAddressCall(tx: Tx, { machineId, sessionNumber }: Registration): Promise<boolean> {
  const isOver = sql<boolean>`coalesce(address_calls_since_at <= ${tx.now}::timestamptz - interval '1 hour', true)`;
  const counted = await tx.db
    .updateTable("machines")
    .set({
      address_calls_since_at: sql<Date>`case when ${isOver} then ${tx.now}::timestamptz else address_calls_since_at end`,
      address_call_count: sql<number>`case when ${isOver} then 1 else address_call_count + 1 end`,
    })
    .where("id", "=", machineId)
    .where("session_number", "=", sessionNumber)
    .where(sql<boolean>`(${isOver} or address_call_count < ${CALLS_PER_HOUR}::integer)`)
    .returning("id")
    .executeTakeFirst();
  return counted !== undefined;
}

/** Notes that a machine answered at this address, unless it has a newer connection, which makes its own proof. */
export async function storeProvenAddress(
  tx: Tx,
  { machineId, sessionNumber }: Registration,
  address: string,
): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ proven_address: address })
    .where("id", "=", machineId)
    .where("session_number", "=", sessionNumber)
    .where("is_connected", "=", true)
    .execute();
}
