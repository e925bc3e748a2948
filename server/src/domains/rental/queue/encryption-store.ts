import { sql } from "kysely";
import type { StandingRequestId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import { decryptLaunchIfPossible, encryptLaunch, type EncryptedLaunch } from "../templates/index.ts";

/** Encrypts the settings of a few standing requests that older versions stored in clear; returns their number. */
export async function encryptEarlierRequests(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows } = await sql<{ readonly id: StandingRequestId; readonly launch: EncryptedLaunch }>`
    select id, launch from standing_requests where launch ? 'env' order by id limit ${limit} for update skip locked
  `.execute(tx.db);
  for (const { id, launch } of rows) {
    const place = { kind: "standing request", id } as const;
    const encrypted = encryptLaunch(decryptLaunchIfPossible(launch, place, encryption), place, encryption);
    const stored = JSON.stringify(encrypted);
    await tx.db.updateTable("standing_requests").set({ launch: stored }).where("id", "=", id).execute();
  }
  return rows.length;
}
