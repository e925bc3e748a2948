import type { Tx } from "../../../db/transaction.ts";

/** Locks the mark up to which recipients of credit were notified; returns its transfer id. */
export async function lockCreditMark(tx: Tx): Promise<bigint> {
  const row = await tx.db.selectFrom("credit_notice_mark").select("transfer_id").forUpdate().executeTakeFirstOrThrow();
  return row.transfer_id;
}

export async function moveCreditMark(tx: Tx, transferId: bigint): Promise<void> {
  await tx.db.updateTable("credit_notice_mark").set({ transfer_id: transferId }).execute();
}
