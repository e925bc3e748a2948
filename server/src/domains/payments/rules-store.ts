import type { Reader, Tx } from "../../db/transaction.ts";

/** What the house keeps of hosts' earnings, in millionths; the same for every server of one database. */
export async function feeRatePpm(db: Reader): Promise<number> {
  const row = await db.selectFrom("payment_rules").select("fee_ppm").executeTakeFirstOrThrow();
  return row.fee_ppm;
}

/** Makes the rate of this start that of the database. It holds for invoices from now on. */
export async function setFeeRate(tx: Tx, { feePpm }: { readonly feePpm: number }): Promise<void> {
  await tx.db.updateTable("payment_rules").set({ fee_ppm: feePpm }).execute();
}

/** The name of this database at a provider. */
export async function readInstallation(db: Reader): Promise<string> {
  const row = await db.selectFrom("payment_rules").select("installation").executeTakeFirstOrThrow();
  return row.installation;
}
