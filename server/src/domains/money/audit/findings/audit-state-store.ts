import { sql } from "kysely";
import type { Reader } from "../../../../db/transaction.ts";
import { findLastCheckpoint } from "../checkpoints/checkpoint-store.ts";
import { findLastRun } from "./finding-store.ts";

/** The state of reconciliation and audit in numbers. */
export type AuditState = {
  readonly reconciledAt: Date | undefined;
  readonly counts: Readonly<Record<string, number>>;
  /** Findings since a moment that no rule could repair. */
  readonly alarmCount: number;
  /** The end of the time that an audit found sound and sealed. */
  readonly sealedUntil: Date | undefined;
};

export async function readAuditState(db: Reader, since: Date): Promise<AuditState> {
  const { at, counts } = await findLastRun(db);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from reconciliation_findings
    where outcome = 'alarmed' and last_found_at >= ${since}::timestamptz
  `.execute(db);
  const sealed = await findLastCheckpoint(db);
  return { reconciledAt: at, counts, alarmCount: rows[0]?.count ?? 0, sealedUntil: sealed?.untilAt };
}
