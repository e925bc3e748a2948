import type { Reader, Tx } from "../../../db/transaction.ts";

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

/** When hosts are paid for what may not be money yet. */
export type EarningsRules = {
  /** Days after which earnings of granted credit are paid; undefined for never by themselves. */
  readonly grantedAfterDays: number | undefined;
  /** For so many days card payments are neither transferred nor paid out. */
  readonly cardHoldDays: number;
};

/** The same for every server of one database. */
export async function readEarningsRules(db: Reader): Promise<EarningsRules> {
  const row = await db
    .selectFrom("payment_rules")
    .select(["granted_after_days", "card_hold_days"])
    .executeTakeFirstOrThrow();
  return { grantedAfterDays: row.granted_after_days ?? undefined, cardHoldDays: row.card_hold_days };
}

/** Makes the rules of this start those of the database. */
export async function setEarningsRules(tx: Tx, { grantedAfterDays, cardHoldDays }: EarningsRules): Promise<void> {
  await tx.db
    .updateTable("payment_rules")
    .set({ granted_after_days: grantedAfterDays ?? null, card_hold_days: cardHoldDays })
    .execute();
}
