import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

type Fields = Readonly<Record<string, unknown>>;

const JOB_FIELDS = {
  api_endpoint: Type.String({ maxLength: 2_048 }),
  request_method: Type.Union([Type.Literal("GET"), Type.Literal("POST"), Type.Literal("PUT"), Type.Literal("DELETE")]),
  request_body: Type.Optional(Type.Unsafe<Fields>(Type.Object({}, { additionalProperties: true }))),
  frequency: Type.Union([Type.Literal("HOURLY"), Type.Literal("DAILY"), Type.Literal("WEEKLY"), Type.Literal("ONCE")]),
  day_of_the_week: Type.Optional(Type.Integer({ minimum: 0, maximum: 6 })),
  hour_of_the_day: Type.Optional(Type.Integer({ minimum: 0, maximum: 23 })),
  min_of_the_hour: Type.Optional(Type.Integer({ minimum: 0, maximum: 59 })),
  start_time: Type.Optional(Type.Number()),
  end_time: Type.Optional(Type.Number()),
  instance_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  api_key_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
};

export const CreateJobBody = Type.Object(JOB_FIELDS, { additionalProperties: true });
export type CreateJobBody = Static<typeof CreateJobBody>;

export const UpdateJobBody = Type.Partial(Type.Object(JOB_FIELDS), { additionalProperties: true });
export type UpdateJobBody = Static<typeof UpdateJobBody>;

export const StoredJob = Type.Object({
  success: Type.Literal(true),
  scheduled_job_id: Type.Integer(),
  msg: Type.String(),
});
export const DeletedJob = Type.Object({ success: Type.Literal(true), msg: Type.String() });
export const JobParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) });
export const RunsQuery = Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })) });

const Outcome = Type.Union([
  Type.Literal("running"),
  Type.Literal("done"),
  Type.Literal("failed"),
  Type.Literal("unknown"),
  Type.Literal("missed"),
]);

const ScheduledRun = model("ScheduledRun", {
  due_time: Type.Number(),
  last_due_time: Type.Number(),
  occurrences: Type.Integer(),
  outcome: Outcome,
  api_key_id: Type.Integer(),
  http_status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  msg: Nullable(Type.String()),
  start_time: Nullable(Type.Number()),
  end_time: Nullable(Type.Number()),
});
export type ScheduledRunRecord = Static<typeof ScheduledRun>;

const ScheduledJob = model("ScheduledJob", {
  id: Type.Integer(),
  instance_id: Nullable(Type.Integer()),
  api_endpoint: Type.String(),
  request_method: Type.String(),
  request_body: Type.Optional(Type.Unsafe<Fields>(Type.Object({}, { additionalProperties: true }))),
  start_time: Type.Number(),
  end_time: Type.Number(),
  day_of_the_week: Nullable(Type.Integer()),
  hour_of_the_day: Nullable(Type.Integer()),
  min_of_the_hour: Nullable(Type.Integer()),
  frequency: Type.String(),
  status: Type.Union([Type.Literal("active"), Type.Literal("ended"), Type.Literal("stopped")]),
  stop_reason: Nullable(Type.String()),
  next_time: Nullable(Type.Number()),
  api_key_id: Type.Integer(),
  created_at: Type.Number(),
  last_run: Nullable(ScheduledRun),
});
export type ScheduledJobRecord = Static<typeof ScheduledJob>;

export const JobList = Type.Array(ScheduledJob);
export const RunList = Type.Array(ScheduledRun);
