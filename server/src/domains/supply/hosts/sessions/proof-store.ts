import type { MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { Registration } from "../store.ts";

/** Expects `proof` at the next connection, or `previous` until the agent confirms that it has stored `proof`. */
export async function storeProof(
  tx: Tx,
  { machineId, sessionNumber }: Registration,
  { proofSha256, previousSha256 }: { readonly proofSha256: Buffer; readonly previousSha256: Buffer },
): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({
      session_number: sessionNumber,
      proof_sha256: proofSha256,
      previous_proof_sha256: previousSha256,
    })
    .where("id", "=", machineId)
    .execute();
}

/** Ends the validity of the previous proof: the agent has stored the proof of this connection. Safe to repeat. */
export async function confirmProof(tx: Tx, { machineId, sessionNumber }: Registration): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ previous_proof_sha256: null })
    .where("id", "=", machineId)
    .where("session_number", "=", sessionNumber)
    .execute();
}

/** Notes that a copy of this machine's credential was used; returns when the last one was, null for the first. */
export async function noteClone(tx: Tx, id: MachineId): Promise<Date | null> {
  const before = await tx.db
    .selectFrom("machines")
    .select("clone_noticed_at")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  await tx.db.updateTable("machines").set({ clone_noticed_at: tx.now }).where("id", "=", id).execute();
  return before.clone_noticed_at;
}
