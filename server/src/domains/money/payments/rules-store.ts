import type { Reader, Tx } from "../../../db/transaction.ts";

/** The fee of the house on hosts' earnings, in millionths; one rate for all servers of a database. */
export async function feeRatePpm(db: Reader): Promise<number> {
  const row = await db.selectFrom("payment_rules").select("fee_ppm").executeTakeFirstOrThrow();
  return row.fee_ppm;
}

/** Stores the fee rate of this start in the database. It holds for invoices from now on. */
export async function setFeeRate(tx: Tx, { feePpm }: { readonly feePpm: number }): Promise<void> {
  await tx.db.updateTable("payment_rules").set({ fee_ppm: feePpm }).execute();
}

/** The name of this database at a provider. */
export async function readInstallation(db: Reader): Promise<string> {
  const row = await db.selectFrom("payment_rules").select("installation").executeTakeFirstOrThrow();
  return row.installation;
}

/** Rules for earnings and payments that may still be taken back. */
export type EarningsRules = {
  /** Days after which earnings of granted credit are paid; undefined when only administrators release them. */
  readonly grantedAfterDays: number | undefined;
  /** Days for which card payments are neither sent to other users nor paid out. */
  readonly cardHoldDays: number;
};

/** The rules of this database, one set for all its servers. */
export async function readEarningsRules(db: Reader): Promise<EarningsRules> {
  const row = await db
    .selectFrom("payment_rules")
    .select(["granted_after_days", "card_hold_days"])
    .executeTakeFirstOrThrow();
  return { grantedAfterDays: row.granted_after_days ?? undefined, cardHoldDays: row.card_hold_days };
}

/** Stores the rules of this start in the database. */
export async function setEarningsRules(tx: Tx, { grantedAfterDays, cardHoldDays }: EarningsRules): Promise<void> {
  await tx.db
    .updateTable("payment_rules")
    .set({ granted_after_days: grantedAfterDays ?? null, card_hold_days: cardHoldDays })
    .execute();
}
