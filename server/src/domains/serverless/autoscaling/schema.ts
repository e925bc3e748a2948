import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Key = Type.Optional(Type.String({ description: "The key, for callers that send no header." }));
/** More are not read for one answer: asked for more, and for all with -1, a log ends there. */
export const TAIL_MAX = 10_000;
const Tail = Type.Optional(
  Type.Integer({ minimum: -1, default: 1000, description: `Newest lines, ${TAIL_MAX} at most; -1: as many as that.` }),
);

export const EndpointLogsBody = Type.Object({
  id: Type.Optional(Type.Integer({ description: "The endpoint; or say endpoint." })),
  endpoint: Type.Optional(Type.String({ maxLength: 255, description: "Its name." })),
  api_key: Key,
  tail: Tail,
});

export const WorkerGroupLogsBody = Type.Object({
  id: Type.Integer({ description: "The worker group." }),
  api_key: Key,
  tail: Tail,
});

/** The log in four streams; each stream holds the lines of those before it. */
export const LogsResponse = model("Logs", {
  info0: Type.String({ description: "What matters." }),
  info1: Type.String({ description: "And what was done." }),
  trace: Type.String({ description: "And what was seen." }),
  debug: Type.String({ description: "Everything." }),
  logs: Type.String({ description: "The same as info1." }),
});
export type LogsResponse = Static<typeof LogsResponse>;

export const UpdateWorkersBody = Type.Object({
  workergroup_id: Type.Integer(),
  api_key: Key,
  cancel_update: Type.Optional(Type.Boolean({ description: "Workers that were not updated yet stay as they are." })),
});

export const UpdateWorkersResponse = Type.Object({
  success: Type.Literal(true),
  cancelled: Type.Boolean(),
  workers_to_update: Type.Integer({ description: "Made from an earlier recipe than the group's." }),
});

export const EventsQuery = Type.Object({
  level: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 3, default: 1, description: "0 says least, 3 everything." }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Only what happened before this event.",
    }),
  ),
});

export const EndpointEventRecord = model("EndpointEvent", {
  id: Type.Integer(),
  at: Type.Number({ description: "Unix time." }),
  kind: Type.Union([Type.Literal("decision"), Type.Literal("worker"), Type.Literal("change")]),
  level: Type.Integer(),
  sentence: Type.String({ description: "What happened and why." }),
  worker_id: Type.Optional(Type.Integer()),
  workergroup_id: Type.Optional(Type.Integer()),
  detail: Type.Object({}, { additionalProperties: true, description: "Of a decision its inputs and actions." }),
});
export type EndpointEventRecord = Static<typeof EndpointEventRecord>;

export const EventsResponse = Type.Object({
  success: Type.Literal(true),
  events: Type.Array(EndpointEventRecord, { description: "Newest first." }),
});
