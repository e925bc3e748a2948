import { sql } from "kysely";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type Outcome = "repaired" | "told" | "alarmed";

/** A finding, and the action that a rule took. */
export type StoredFinding = {
  readonly kind: string;
  readonly subject: string;
  readonly outcome: Outcome;
  readonly details: Readonly<Record<string, unknown>>;
  readonly firstFoundAt: Date;
  readonly lastFoundAt: Date;
  readonly foundCount: number;
};

/** Stores a finding in the transaction of its repair; a known finding is counted once more. */
export async function recordFinding(
  tx: Tx,
  { kind, subject, outcome, details }: Pick<StoredFinding, "kind" | "subject" | "outcome" | "details">,
): Promise<void> {
  await sql`
    insert into reconciliation_findings as known
      (kind, subject, outcome, details, first_found_at, last_found_at)
    values (
      ${kind}::text, ${subject}::text, ${outcome}::text, ${JSON.stringify(details)}::jsonb, ${tx.now}::timestamptz,
      ${tx.now}::timestamptz
    )
    on conflict (kind, subject) do update set
      outcome = excluded.outcome, details = excluded.details, last_found_at = excluded.last_found_at,
      found_count = known.found_count + 1
  `.execute(tx.db);
}

/** Findings, newest first. */
export async function listFindings(db: Reader, limit: number): Promise<readonly StoredFinding[]> {
  const rows = await db
    .selectFrom("reconciliation_findings")
    .selectAll()
    .orderBy("last_found_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    kind: row.kind,
    subject: row.subject,
    outcome: row.outcome as Outcome,
    details: row.details as StoredFinding["details"],
    firstFoundAt: row.first_found_at,
    lastFoundAt: row.last_found_at,
    foundCount: row.found_count,
  }));
}

/** Numbers of findings by kind and outcome. */
export async function countFindings(
  db: Reader,
): Promise<readonly { readonly kind: string; readonly outcome: Outcome; readonly count: number }[]> {
  const { rows } = await sql<{ kind: string; outcome: Outcome; count: number }>`
    select kind, outcome, sum(found_count)::float8 as count from reconciliation_findings group by kind, outcome
  `.execute(db);
  return rows;
}

export type LastRun = { readonly at: Date | undefined; readonly counts: Readonly<Record<string, number>> };

export async function findLastRun(db: Reader): Promise<LastRun> {
  const row = await db
    .selectFrom("reconciliation_clock")
    .select(["last_run_at", "last_counts"])
    .executeTakeFirstOrThrow();
  return { at: row.last_run_at ?? undefined, counts: row.last_counts as LastRun["counts"] };
}

/** Claims the pass over the whole database; false when another process made one within `everyMs`. */
export async function claimRun(tx: Tx, everyMs: number): Promise<boolean> {
  const result = await sql`
    update reconciliation_clock set last_run_at = ${tx.now}::timestamptz
    where last_run_at is null or last_run_at <= ${new Date(tx.now.getTime() - everyMs)}::timestamptz
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

export async function noteRun(tx: Tx, counts: LastRun["counts"]): Promise<void> {
  await sql`update reconciliation_clock set last_counts = ${JSON.stringify(counts)}::jsonb`.execute(tx.db);
}
