import type { Reader, Tx } from "../../../db/transaction.ts";

/** Settings of interruptions, equal for every server of one database. */
export type MarketRules = {
  /** Time from the eviction notice to the stop. */
  readonly noticeMs: number;
  /** How long an evicted instance waits before it resumes, and how long a resumed one is safe from other bids. */
  readonly minSliceMs: number;
};

export async function readMarketRules(db: Reader): Promise<MarketRules> {
  const row = await db.selectFrom("market_rules").select(["notice_ms", "min_slice_ms"]).executeTakeFirstOrThrow();
  return { noticeMs: row.notice_ms, minSliceMs: row.min_slice_ms };
}

/** Stores the settings that this server was started with, for all servers of the database. */
export async function setMarketRules(tx: Tx, { noticeMs, minSliceMs }: MarketRules): Promise<void> {
  await tx.db.updateTable("market_rules").set({ notice_ms: noticeMs, min_slice_ms: minSliceMs }).execute();
}
