import { sql, type Selectable } from "kysely";
import type { ApiKeyId, ScheduledJobId, UserId } from "../../../base/ids.ts";
import type { ScheduledJobsTable, ScheduledRunsTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Outcome, RunResult } from "./rules/outcome.ts";
import type { Missed } from "./rules/timetable.ts";

export type Run = {
  readonly jobId: ScheduledJobId;
  readonly dueAt: Date;
  readonly lastDueAt: Date;
  readonly occurrenceCount: number;
  readonly apiKeyId: ApiKeyId;
  readonly outcome: Outcome;
  readonly httpStatus: number | undefined;
  readonly error: string | undefined;
  readonly message: string | undefined;
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
};

type Begin = { readonly jobId: ScheduledJobId; readonly apiKeyId: ApiKeyId; readonly dueAt: Date };

/** Begins the run of an occurrence; undefined when it was begun, or given up, before. */
export async function insertRun(tx: Tx, { jobId, apiKeyId, dueAt }: Begin): Promise<bigint | undefined> {
  const row = await tx.db
    .insertInto("scheduled_runs")
    .values({
      job_id: jobId,
      due_at: dueAt,
      last_due_at: dueAt,
      occurrence_count: 1,
      api_key_id: apiKeyId,
      outcome: "running",
      started_at: tx.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Notes occurrences without a run. False when the first of them was noted before. */
export async function insertMissed(
  tx: Tx,
  { jobId, apiKeyId }: Omit<Begin, "dueAt">,
  { firstMs, lastMs, count, message }: Missed & { readonly message: string },
): Promise<boolean> {
  const row = await tx.db
    .insertInto("scheduled_runs")
    .values({
      job_id: jobId,
      due_at: new Date(firstMs),
      last_due_at: new Date(lastMs),
      occurrence_count: count,
      api_key_id: apiKeyId,
      outcome: "missed",
      message,
      ended_at: tx.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the result of a run. An answer also replaces `unknown`, which another server noted when it came too late. False
 * when the run, or its job, is gone.
 */
export async function storeResult(tx: Tx, id: bigint, result: RunResult): Promise<boolean> {
  const row = await tx.db
    .updateTable("scheduled_runs")
    .set({
      outcome: result.outcome,
      http_status: result.httpStatus ?? null,
      error: result.error ?? null,
      message: result.message ?? null,
      ended_at: tx.now,
    })
    .where("id", "=", id)
    .where("outcome", "in", ["running", "unknown"])
    .executeTakeFirst();
  return row.numUpdatedRows === 1n;
}

/** Takes back a run whose request was not sent. False when it is not under way any more. */
export async function deleteRun(tx: Tx, id: bigint): Promise<boolean> {
  const row = await tx.db
    .deleteFrom("scheduled_runs")
    .where("id", "=", id)
    .where("outcome", "=", "running")
    .executeTakeFirst();
  return row.numDeletedRows === 1n;
}

/** A run whose server has not stored a result. */
export type LostRun = {
  readonly id: bigint;
  readonly jobId: ScheduledJobId;
  readonly userId: UserId;
  readonly method: ScheduledJobsTable["request_method"];
  readonly endpoint: string;
  readonly dueAt: Date;
};

/** Locks runs that began before this time and have no result, except those that another server looks after. */
export async function lockLost(tx: Tx, before: Date, limit: number): Promise<readonly LostRun[]> {
  const { rows } = await sql<LostRun>`
    select run.id, run.job_id as "jobId", job.user_id as "userId", job.request_method as method,
      job.api_endpoint as endpoint, run.due_at as "dueAt"
    from scheduled_runs run join scheduled_jobs job on job.id = run.job_id
    where run.outcome = 'running' and run.started_at < ${before}::timestamptz
    order by run.started_at limit ${limit}
    for update of run skip locked
  `.execute(tx.db);
  return rows;
}

/** The newest runs of a job first. */
export async function listRuns(db: Reader, jobId: ScheduledJobId, limit: number): Promise<readonly Run[]> {
  const rows = await db
    .selectFrom("scheduled_runs")
    .selectAll()
    .where("job_id", "=", jobId)
    .orderBy("due_at", "desc")
    .limit(limit)
    .execute();
  return rows.map(toRun);
}

/** The newest run of each of these jobs that has one. */
export async function findLastRuns(
  db: Reader,
  jobIds: readonly ScheduledJobId[],
): Promise<ReadonlyMap<ScheduledJobId, Run>> {
  if (jobIds.length === 0) return new Map();
  const { rows } = await sql<Selectable<ScheduledRunsTable>>`
    select run.* from unnest(${jobIds}::integer[]) as asked (job_id)
    cross join lateral (
      select * from scheduled_runs where job_id = asked.job_id order by due_at desc limit 1
    ) as run
  `.execute(db);
  return new Map(rows.map((row) => [row.job_id, toRun(row)]));
}

/** Deletes runs that ended before this time. */
export async function deleteRunsBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from scheduled_runs where id in (
      select id from scheduled_runs where ended_at < ${before}::timestamptz
      order by ended_at limit ${limit} for update skip locked
    )
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

function toRun(row: Selectable<ScheduledRunsTable>): Run {
  return {
    jobId: row.job_id,
    dueAt: row.due_at,
    lastDueAt: row.last_due_at,
    occurrenceCount: row.occurrence_count,
    apiKeyId: row.api_key_id,
    outcome: row.outcome,
    httpStatus: row.http_status ?? undefined,
    error: row.error ?? undefined,
    message: row.message ?? undefined,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}
