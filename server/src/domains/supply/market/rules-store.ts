import type { Reader, Tx } from "../../../db/transaction.ts";

/** How an interruption goes; the same for every server of one database. */
export type MarketRules = {
  /** From the notice to the stop. */
  readonly noticeMs: number;
  /** For so long a displaced instance waits before it resumes, and one that has resumed is spared by other bids. */
  readonly minSliceMs: number;
};

export async function readMarketRules(db: Reader): Promise<MarketRules> {
  const row = await db.selectFrom("market_rules").select(["notice_ms", "min_slice_ms"]).executeTakeFirstOrThrow();
  return { noticeMs: row.notice_ms, minSliceMs: row.min_slice_ms };
}

/** Makes the settings of this start those of the database. */
export async function setMarketRules(tx: Tx, { noticeMs, minSliceMs }: MarketRules): Promise<void> {
  await tx.db.updateTable("market_rules").set({ notice_ms: noticeMs, min_slice_ms: minSliceMs }).execute();
}
