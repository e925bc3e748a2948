import { sql, type Selectable } from "kysely";
import type { ApiKeyId, InstanceId, ScheduledJobId, UserId } from "../../../base/ids.ts";
import type { ScheduledJobsTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Job } from "./rules/job.ts";
import type { Timetable } from "./rules/timetable.ts";

export type StoredJob = Omit<Job, "id" | "createdAt" | "stopReason" | "dueAt"> & { readonly dueAt: Date };

export async function insertJob(tx: Tx, job: StoredJob): Promise<ScheduledJobId> {
  const { id } = await tx.db
    .insertInto("scheduled_jobs")
    .values({ user_id: job.userId, created_at: tx.now, ...columnsOf(job) })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Stores another request or other times. A job that is over goes on. */
export async function updateJob(tx: Tx, id: ScheduledJobId, job: StoredJob): Promise<void> {
  await tx.db
    .updateTable("scheduled_jobs")
    .set({ ...columnsOf(job), stop_reason: null, closed_at: null })
    .where("id", "=", id)
    .execute();
}

/** Deletes a job with its runs. False when the account has none of this id. */
export async function deleteJob(tx: Tx, userId: UserId, id: ScheduledJobId): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("scheduled_jobs")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Newest first; those that go on come before those that are over. */
export async function listJobs(db: Reader, userId: UserId, limit: number): Promise<readonly Job[]> {
  const rows = await db
    .selectFrom("scheduled_jobs")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy((eb) => eb("due_at", "is", null))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toJob);
}

export async function hasJob(db: Reader, userId: UserId, id: ScheduledJobId): Promise<boolean> {
  const row = await db
    .selectFrom("scheduled_jobs")
    .select("id")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function lockJobOf(tx: Tx, userId: UserId, id: ScheduledJobId): Promise<Job | undefined> {
  const row = await tx.db
    .selectFrom("scheduled_jobs")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return row && toJob(row);
}

/** The job of the account that goes on and has this digest. */
export async function findSame(tx: Tx, userId: UserId, digest: string): Promise<ScheduledJobId | undefined> {
  const row = await tx.db
    .selectFrom("scheduled_jobs")
    .select("id")
    .where("user_id", "=", userId)
    .where("digest", "=", digest)
    .where("due_at", "is not", null)
    .executeTakeFirst();
  return row?.id;
}

/** Number of jobs of the account that go on. */
export async function countActive(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("scheduled_jobs")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("due_at", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes the oldest jobs of the account that are over, down to `kept`. */
export async function deleteOldestClosed(tx: Tx, userId: UserId, kept: number): Promise<void> {
  await sql`
    delete from scheduled_jobs where id in (
      select id from scheduled_jobs where user_id = ${userId} and closed_at is not null
      order by closed_at desc, id desc offset ${kept}
    )
  `.execute(tx.db);
}

export type DueOptions = {
  readonly total: number;
  /** The most runs of an account at a time, those included that are under way. */
  readonly perUser: number;
  /** Numbers of runs that are under way, of accounts that have any. */
  readonly underWay: ReadonlyMap<UserId, number>;
};

/** Locks jobs with an occurrence that is due, the longest due first; those that another server decides about are left out. */
export async function lockDue(tx: Tx, { total, perUser, underWay }: DueOptions): Promise<readonly Job[]> {
  const { rows } = await sql<Selectable<ScheduledJobsTable>>`
    select * from scheduled_jobs
    where id in (
      select id from (
        select id, due_at, coalesce(run_count, 0) + row_number() over (partition by user_id order by due_at, id) as place
        from scheduled_jobs
        left join unnest(${[...underWay.keys()]}::integer[], ${[...underWay.values()]}::integer[])
          as busy (user_id, run_count) using (user_id)
        where due_at <= ${tx.now}::timestamptz
      ) as waiting
      where place <= ${perUser} order by due_at, id limit ${total}
    ) and due_at <= ${tx.now}::timestamptz
    order by due_at, id
    for update skip locked
  `.execute(tx.db);
  return rows.map(toJob);
}

/** Sets the first occurrence that is not decided yet, of a job that the caller has locked; without one the job is over. */
export async function setDue(tx: Tx, id: ScheduledJobId, dueAt: Date | undefined): Promise<void> {
  await tx.db
    .updateTable("scheduled_jobs")
    .set({ due_at: dueAt ?? null, closed_at: dueAt === undefined ? tx.now : null })
    .where("id", "=", id)
    .execute();
}

/** Puts an occurrence back that was not begun after all, unless the job was changed or ended otherwise meanwhile. */
export async function putBack(
  tx: Tx,
  { jobId, digest, dueAt }: { readonly jobId: ScheduledJobId; readonly digest: string; readonly dueAt: Date },
): Promise<boolean> {
  const result = await sql`
    update scheduled_jobs job set due_at = ${dueAt}::timestamptz, closed_at = null
    where id = ${jobId} and digest = ${digest} and stop_reason is null
      and (due_at is null or due_at > ${dueAt}::timestamptz)
      and not exists (
        select from scheduled_jobs same
        where same.user_id = job.user_id and same.digest = job.digest and same.due_at is not null and same.id <> job.id
      )
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Ends a job before its time; safe to repeat. A job that has another key by now goes on. */
export async function stopJob(
  tx: Tx,
  { jobId, apiKeyId, reason }: { readonly jobId: ScheduledJobId; readonly apiKeyId: ApiKeyId; readonly reason: string },
): Promise<void> {
  await tx.db
    .updateTable("scheduled_jobs")
    .set({ due_at: null, closed_at: tx.now, stop_reason: reason })
    .where("id", "=", jobId)
    .where("api_key_id", "=", apiKeyId)
    .execute();
}

/** Deletes jobs that were over before this time, with their runs. */
export async function deleteClosed(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from scheduled_jobs where id in (
      select id from scheduled_jobs where closed_at < ${before}::timestamptz
      order by closed_at limit ${limit} for update skip locked
    )
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

function columnsOf(job: StoredJob) {
  const { timetable } = job;
  return {
    api_key_id: job.apiKeyId,
    instance_id: job.instanceId ?? null,
    request_method: job.method,
    api_endpoint: job.endpoint,
    request_body: job.encryptedBody,
    digest: job.digest,
    frequency: timetable.frequency,
    day_of_the_week: timetable.dayOfTheWeek ?? null,
    hour_of_the_day: timetable.hourOfTheDay ?? null,
    min_of_the_hour: timetable.minOfTheHour,
    starts_at: new Date(timetable.startMs),
    ends_at: new Date(timetable.endMs),
    due_at: job.dueAt,
  };
}

function toJob(row: Selectable<ScheduledJobsTable>): Job {
  return {
    id: row.id,
    userId: row.user_id,
    apiKeyId: row.api_key_id,
    instanceId: (row.instance_id ?? undefined) as InstanceId | undefined,
    method: row.request_method,
    endpoint: row.api_endpoint,
    encryptedBody: row.request_body,
    digest: row.digest,
    timetable: timetableOf(row),
    dueAt: row.due_at ?? undefined,
    stopReason: row.stop_reason ?? undefined,
    createdAt: row.created_at,
  };
}

function timetableOf(row: Selectable<ScheduledJobsTable>): Timetable {
  return {
    frequency: row.frequency,
    dayOfTheWeek: row.day_of_the_week ?? undefined,
    hourOfTheDay: row.hour_of_the_day ?? undefined,
    minOfTheHour: row.min_of_the_hour,
    startMs: row.starts_at.getTime(),
    endMs: row.ends_at.getTime(),
  };
}
