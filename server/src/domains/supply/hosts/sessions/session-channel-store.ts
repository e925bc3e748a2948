import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";
import type { Registration } from "../store.ts";

/**
 * Channel on which every process learns that a machine connected to this server: its session with any other server is
 * over.
 */
export const SESSIONS_CHANNEL = "agent_sessions";

export async function announceSession(tx: Tx, { machineId, sessionNumber }: Registration): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${`${machineId} ${sessionNumber}`})`.execute(tx.db);
}
