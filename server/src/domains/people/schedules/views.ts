import { epochSeconds } from "../../../base/clock.ts";
import type { Job } from "./rules/job.ts";
import type { Run } from "./run-store.ts";
import type { ScheduledJobRecord, ScheduledRunRecord } from "./schema.ts";

type Shown = {
  readonly lastRun: Run | undefined;
  /** The body of the request, for the key that the job acts with. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
};

export function viewJob(job: Job, { lastRun, body }: Shown): ScheduledJobRecord {
  const { timetable, dueAt, stopReason } = job;
  const isOnce = timetable.frequency === "ONCE";
  const ended = stopReason === undefined ? ("ended" as const) : ("stopped" as const);
  return {
    id: job.id,
    instance_id: job.instanceId ?? null,
    api_endpoint: job.endpoint,
    request_method: job.method,
    ...(body === undefined ? {} : { request_body: body }),
    start_time: timetable.startMs / 1_000,
    end_time: timetable.endMs / 1_000,
    day_of_the_week: timetable.dayOfTheWeek ?? null,
    hour_of_the_day: timetable.hourOfTheDay ?? null,
    min_of_the_hour: isOnce ? null : timetable.minOfTheHour,
    frequency: timetable.frequency,
    status: dueAt === undefined ? ended : "active",
    stop_reason: stopReason ?? null,
    next_time: seconds(dueAt),
    api_key_id: job.apiKeyId,
    created_at: epochSeconds(job.createdAt),
    last_run: lastRun === undefined ? null : viewRun(lastRun),
  };
}

export function viewRun(run: Run): ScheduledRunRecord {
  return {
    due_time: epochSeconds(run.dueAt),
    last_due_time: epochSeconds(run.lastDueAt),
    occurrences: run.occurrenceCount,
    outcome: run.outcome,
    api_key_id: run.apiKeyId,
    http_status: run.httpStatus ?? null,
    error: run.error ?? null,
    msg: run.message ?? null,
    start_time: seconds(run.startedAt),
    end_time: seconds(run.endedAt),
  };
}

function seconds(at: Date | undefined): number | null {
  return at === undefined ? null : epochSeconds(at);
}
