import type { RouteAccess } from "../../../../base/access.ts";
import { invalid, type AppError } from "../../../../base/errors.ts";
import type { ApiKeyId, InstanceId, ScheduledJobId, UserId } from "../../../../base/ids.ts";
import { canonical } from "../../../../base/facts.ts";
import { FREQUENCIES, nextAt, type Frequency, type Timetable } from "./timetable.ts";

/** A request as a job repeats it. */
export type JobRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path with its query, from `/api/` on. */
  readonly endpoint: string;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Job = {
  readonly id: ScheduledJobId;
  readonly userId: UserId;
  readonly apiKeyId: ApiKeyId;
  readonly instanceId: InstanceId | undefined;
  readonly method: JobRequest["method"];
  readonly endpoint: string;
  readonly encryptedBody: string;
  readonly digest: string;
  readonly timetable: Timetable;
  /** The first occurrence that was not decided yet; undefined when the job is over. */
  readonly dueAt: Date | undefined;
  readonly stopReason: string | undefined;
  readonly createdAt: Date;
};

/** The fields of a request for a job that concern its times. */
export type TimeFields = {
  readonly frequency?: Frequency | undefined;
  readonly day_of_the_week?: number | undefined;
  readonly hour_of_the_day?: number | undefined;
  readonly min_of_the_hour?: number | undefined;
  readonly start_time?: number | undefined;
  readonly end_time?: number | undefined;
};

const BODY_CHARACTERS_MAX = 65_536;
/** The year 2100: a later end is a mistake of units. */
const TIME_MAX_S = 4_102_444_800;
/** A job without an end would be forgotten, and would go on. */
const SPAN_DEFAULT_MS = 365 * 86_400_000;
/** The time that a request for a job that runs at once may need to arrive. */
const PAST_MAX_MS = 300_000;
/** Operations on jobs that would let one job make others without end. */
const NOT_BY_JOBS: ReadonlySet<string> = new Set(["api.schedule.create", "api.schedule.update"]);

/** The refusal of a request that no job can repeat; undefined when one can. `access` is that of its route, if there is one. */
export function refuseRequest(
  { method, endpoint, body }: JobRequest,
  access: RouteAccess | undefined,
): AppError | undefined {
  const url = endpoint.startsWith("/api/v") ? URL.parse(endpoint, "http://localhost") : null;
  if (url === null || `${url.pathname}${url.search}` !== endpoint) {
    return invalid("api_endpoint", "api_endpoint must be a path of this server, such as /api/v0/instances/7/");
  }
  if (url.searchParams.has("api_key")) {
    return invalid("api_endpoint", "api_endpoint must not have api_key: a job acts with the key that schedules it");
  }
  if (access === undefined)
    return invalid("api_endpoint", `api_endpoint is unknown: there is no ${method} ${url.pathname}`);
  if (access.permission === "public") {
    return invalid("api_endpoint", "api_endpoint is open to everybody; a job calls operations that need a key");
  }
  if (NOT_BY_JOBS.has(access.operation)) {
    return invalid("api_endpoint", "api_endpoint makes or changes a scheduled job, which a job cannot do");
  }
  if (JSON.stringify(body).length > BODY_CHARACTERS_MAX) {
    return invalid("request_body", `request_body may have at most ${BODY_CHARACTERS_MAX} characters as JSON`);
  }
  return undefined;
}

/** Reads the times of a new job, or of a change of one that has `earlier` times. Throws naming the first wrong field. */
export function readTimetable(fields: TimeFields, now: Date, earlier?: Timetable): Timetable {
  const { frequency = earlier?.frequency } = fields;
  if (frequency === undefined) throw invalid("frequency", `frequency must be one of ${FREQUENCIES.join(", ")}`);
  // Another frequency begins without the day and hour of the former one.
  const kept = fields.frequency === undefined ? earlier : undefined;
  const times = {
    day_of_the_week: fields.day_of_the_week ?? kept?.dayOfTheWeek,
    hour_of_the_day: fields.hour_of_the_day ?? kept?.hourOfTheDay,
    min_of_the_hour:
      fields.min_of_the_hour ?? (kept === undefined || kept.frequency === "ONCE" ? undefined : kept.minOfTheHour),
  };
  requireFitting(frequency, times);
  const [start, end] = [readTime("start_time", fields.start_time), readTime("end_time", fields.end_time)];
  if (frequency === "ONCE" && start === undefined && earlier?.frequency !== "ONCE") {
    throw invalid("start_time", "start_time is needed when frequency is ONCE");
  }
  const startMs = start ?? earlier?.startMs ?? now.getTime();
  const keptEndMs = earlier?.frequency === "ONCE" ? undefined : earlier?.endMs;
  const endMs =
    frequency === "ONCE" ? startMs : (end ?? keptEndMs ?? Math.max(startMs, now.getTime()) + SPAN_DEFAULT_MS);
  if (endMs < startMs) throw invalid("end_time", "end_time must not be before start_time");
  return {
    frequency,
    dayOfTheWeek: times.day_of_the_week,
    hourOfTheDay: times.hour_of_the_day,
    minOfTheHour: times.min_of_the_hour ?? 0,
    startMs,
    endMs,
  };
}

/** The first occurrence of new times. Throws when they are over. */
export function firstDueAt(timetable: Timetable, now: Date): Date {
  const isOnce = timetable.frequency === "ONCE";
  const firstMs = nextAt(timetable, isOnce ? now.getTime() - PAST_MAX_MS : now.getTime());
  if (firstMs !== undefined) return new Date(firstMs);
  if (isOnce) throw invalid("start_time", "start_time is over");
  throw invalid("end_time", "end_time leaves no run: the first one after now would be later");
}

/** The text that is equal for jobs that do the same at the same times; how long they go on does not matter. */
export function textOfJob({ method, endpoint, body }: JobRequest, timetable: Timetable): string {
  const { frequency, dayOfTheWeek, hourOfTheDay, minOfTheHour, startMs } = timetable;
  const times = [frequency, dayOfTheWeek ?? null, hourOfTheDay ?? null, minOfTheHour];
  return canonical([method, endpoint, body, ...times, frequency === "ONCE" ? startMs : null]);
}

type DayAndHour = Pick<TimeFields, "day_of_the_week" | "hour_of_the_day" | "min_of_the_hour">;

/** The fields that each frequency needs, and those that would contradict it. */
const FIELDS_OF: Readonly<
  Record<Frequency, { readonly needs: readonly (keyof DayAndHour)[]; readonly takes: readonly (keyof DayAndHour)[] }>
> = {
  ONCE: { needs: [], takes: [] },
  HOURLY: { needs: [], takes: ["min_of_the_hour"] },
  DAILY: { needs: ["hour_of_the_day"], takes: ["hour_of_the_day", "min_of_the_hour"] },
  WEEKLY: {
    needs: ["day_of_the_week", "hour_of_the_day"],
    takes: ["day_of_the_week", "hour_of_the_day", "min_of_the_hour"],
  },
};

function requireFitting(frequency: Frequency, times: DayAndHour): void {
  const { needs, takes } = FIELDS_OF[frequency];
  for (const field of ["day_of_the_week", "hour_of_the_day", "min_of_the_hour"] as const) {
    const isGiven = times[field] !== undefined;
    if (!isGiven && needs.includes(field)) throw invalid(field, `${field} is needed when frequency is ${frequency}`);
    if (isGiven && !takes.includes(field))
      throw invalid(field, `${field} must be left out when frequency is ${frequency}`);
  }
}

/** A time in milliseconds, of one in seconds since 1970. */
function readTime(field: "start_time" | "end_time", seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (seconds >= 0 && seconds <= TIME_MAX_S) return Math.round(seconds * 1_000);
  throw invalid(field, `${field} must be in seconds since 1970, and before the year 2100`);
}
