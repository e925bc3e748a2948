import type { FieldWords, Words } from "../schemas.ts";

const START = 1_767_225_600;
const DUE = 1_767_236_400;
const YEAR_LATER = 1_798_761_600;
const ENDPOINT: Words = [
  "Path of the request with its query, from `/api/` on; any operation that needs a key, except those that make or change scheduled jobs",
  "/api/v0/instances/reboot/77/",
];
const METHOD: Words = ["Method of the request", "PUT"];
const BODY: Words = ["Body of the request, at most 65,536 characters; empty by default", {}];
const FREQUENCY: Words = ["Rhythm of the runs, in UTC; `ONCE` runs at `start_time`", "DAILY"];
const DAY: Words = ["Day of the week for `WEEKLY`, where 0 is Sunday; left out or null otherwise", null];
const HOUR: Words = ["Hour of the day in UTC for `DAILY` and `WEEKLY`; left out or null otherwise", 3];
const MINUTE: Words = ["Minute of the hour; 0 by default, null for `ONCE`", 0];
const FROM: Words = ["Time before which no run is, in seconds since the epoch; now by default", START];
const UNTIL: Words = [
  "Time after which no run is, in seconds since the epoch; a year after the start by default",
  YEAR_LATER,
];
const INSTANCE: Words = ["Id of the instance that the job is about, for lists only; null without one", 77];

const KEY: Words = [
  "Id of the API key that the job acts with, one of the caller's own that may do no more than the calling key; the calling key by default",
  3,
];

/** Fields of scheduled jobs and their runs. */
export const SCHEDULE_FIELDS: FieldWords = {
  api_endpoint: ENDPOINT,
  request_method: METHOD,
  request_body: BODY,
  frequency: FREQUENCY,
  "ScheduledJob.frequency": ["Rhythm of the runs: `HOURLY`, `DAILY`, `WEEKLY` or `ONCE`, in UTC", "DAILY"],
  day_of_the_week: DAY,
  hour_of_the_day: HOUR,
  min_of_the_hour: MINUTE,
  "ScheduleCreateRequest.day_of_the_week": [DAY[0], 1],
  "ScheduleUpdateRequest.day_of_the_week": [DAY[0], 1],
  "ScheduleCreateRequest.start_time": FROM,
  "ScheduleUpdateRequest.start_time": FROM,
  "ScheduledJob.start_time": FROM,
  "ScheduleCreateRequest.end_time": UNTIL,
  "ScheduleUpdateRequest.end_time": UNTIL,
  "ScheduledJob.end_time": UNTIL,
  "ScheduleCreateRequest.instance_id": INSTANCE,
  "ScheduleUpdateRequest.instance_id": INSTANCE,
  "ScheduledJob.instance_id": INSTANCE,
  "ScheduleCreateRequest.api_key_id": KEY,
  "ScheduleUpdateRequest.api_key_id": KEY,
  scheduled_job_id: ["Id of the scheduled job", 8],
  "ScheduledJob.id": ["Id of the scheduled job", 8],
  "ScheduledJob.status": [
    "`active` while runs are to come, `ended` after the last, `stopped` when the server ended it for `stop_reason`",
    "active",
  ],
  stop_reason: ["Reason why the server ended the job before its time; null otherwise", null],
  next_time: ["Time of the next run, in seconds since the epoch; null when there is none", DUE + 86_400],
  "ScheduledJob.api_key_id": ["Id of the API key that the job acts with", 5],
  "ScheduledJob.created_at": ["Time of its creation, in seconds since the epoch", START],
  last_run: ["The newest run, or the newest times without one; null before the first"],
  due_time: ["Time at which the run was due, in seconds since the epoch", DUE],
  last_due_time: [
    "The last of several missed times, in seconds since the epoch; otherwise the same as `due_time`",
    DUE,
  ],
  occurrences: ["Number of missed times that the entry stands for; 1 for a run", 1],
  outcome: [
    "`running`, `done`, `failed`, `missed` when no server ran within an hour, or `unknown` when the server ended during the run",
    "done",
  ],
  "ScheduledRun.api_key_id": ["Id of the API key that the run acted with", 5],
  http_status: ["Status of the answer; null without an answer", 200],
  "ScheduledRun.error": ["Code of the refusal; null when there was none", null],
  "ScheduledRun.msg": ["Sentence about the failure; null when all is well", null],
  "ScheduledRun.start_time": ["Time at which the run began, in seconds since the epoch; null when it was missed", DUE],
  "ScheduledRun.end_time": ["Time at which the outcome was known, in seconds since the epoch; null before", DUE + 1],
};
