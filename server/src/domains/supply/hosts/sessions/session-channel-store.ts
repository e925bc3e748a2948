import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";
import type { Registration } from "../store.ts";

/** Told to every process when a machine that another server had connected to this one: its session there is over. */
export const SESSIONS_CHANNEL = "agent_sessions";

export async function announceSession(tx: Tx, { machineId, sessionNumber }: Registration): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${`${machineId} ${sessionNumber}`})`.execute(tx.db);
}
