import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Key = Type.Optional(Type.String());
/** The most lines of one answer: a larger number, and -1, get this many. */
export const TAIL_MAX = 10_000;
const Tail = Type.Optional(
  Type.Integer({
    minimum: -1,
    default: 1000,
    description: `Number of newest lines, at most ${TAIL_MAX}; -1 for that many`,
  }),
);

export const EndpointLogsBody = Type.Object({
  id: Type.Optional(Type.Integer({ description: "Id of the endpoint, instead of its name" })),
  endpoint: Type.Optional(Type.String({ maxLength: 255 })),
  api_key: Key,
  tail: Tail,
});

export const WorkerGroupLogsBody = Type.Object({
  id: Type.Integer(),
  api_key: Key,
  tail: Tail,
});

/** The log in four streams; each stream holds the lines of those before it. */
export const LogsResponse = model("Logs", {
  info0: Type.String(),
  info1: Type.String(),
  trace: Type.String(),
  debug: Type.String(),
  logs: Type.String(),
});
export type LogsResponse = Static<typeof LogsResponse>;

export const UpdateWorkersBody = Type.Object({
  workergroup_id: Type.Integer(),
  api_key: Key,
  cancel_update: Type.Optional(
    Type.Boolean({ description: "True calls the update off: workers that were not updated yet stay as they are" }),
  ),
});

export const UpdateWorkersResponse = Type.Object({
  success: Type.Literal(true),
  cancelled: Type.Boolean(),
  workers_to_update: Type.Integer({ description: "Workers that were made from an earlier recipe than the group's" }),
});

export const EventsQuery = Type.Object({
  level: Type.Optional(Type.Integer({ minimum: 0, maximum: 3, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
  ),
});

export const EndpointEventRecord = model("EndpointEvent", {
  id: Type.Integer(),
  at: Type.Number(),
  kind: Type.Union([Type.Literal("decision"), Type.Literal("worker"), Type.Literal("change")]),
  level: Type.Integer(),
  sentence: Type.String(),
  worker_id: Type.Optional(Type.Integer()),
  workergroup_id: Type.Optional(Type.Integer()),
  detail: Type.Object({}, { additionalProperties: true }),
});
export type EndpointEventRecord = Static<typeof EndpointEventRecord>;

export const EventsResponse = Type.Object({
  success: Type.Literal(true),
  events: Type.Array(EndpointEventRecord),
});
