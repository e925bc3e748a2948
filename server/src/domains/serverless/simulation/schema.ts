import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { EndpointBody } from "../endpoints/schema.ts";

const MAX = 1e12;
const START_MAX_S = 86_400;
const TRACE_LENGTH_MAX = 50_000;

const seconds = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: START_MAX_S, description }));

/** A description of workers. Absent fields take the median of the endpoint's measured workers. */
const WorkerModelBody = model(
  "WorkerModel",
  {
    perf: Type.Optional(
      Type.Number({ minimum: 1e-6, maximum: MAX, description: "Performance of the worker, in units a second" }),
    ),
    price_per_hour: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1e6, description: "Dollars an hour while it runs, its disk included" }),
    ),
    storage_per_hour: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1e6, description: "Dollars an hour while it is stopped" }),
    ),
    first_start_s: seconds("Seconds from the order until it is ready for the first time"),
    warm_start_s: seconds(
      "Seconds from the order until a stopped worker is ready; those of a first start when none was started from stopped yet",
    ),
    parallel_requests: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, default: 1, description: "Requests that it works on at a time" }),
    ),
  },
  {
    description:
      "Workers of the simulation; a figure that is left out is the median of the endpoint's measured workers",
  },
);

export const SimulateBody = Type.Object({
  ...EndpointBody.properties,
  from: Type.Optional(Type.Number()),
  to: Type.Optional(Type.Number()),
  trace: Type.Optional(
    Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), {
      minItems: 1,
      maxItems: TRACE_LENGTH_MAX,
    }),
  ),
  worker: Type.Optional(WorkerModelBody),
});
export type SimulateBody = Static<typeof SimulateBody>;

const Wait = (share: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `Wait in seconds that ${share} did not exceed; null when it includes requests that were never served`,
  });

export const SimulatedFigures = model("SimulatedFigures", {
  requests: Type.Integer(),
  unserved: Type.Integer({ description: "Requests without service an hour after the last one arrived" }),
  late_share: Type.Number({ description: "Part of the requests that waited for more than a second, from 0 to 1" }),
  wait_p50: Wait("half of the requests"),
  wait_p95: Wait("95 of 100 requests"),
  wait_p99: Wait("99 of 100 requests"),
  hot_hours: Type.Number({ description: "Hours that workers ran, starts included" }),
  cold_hours: Type.Number({ description: "Hours that workers were stopped" }),
  cost: Type.Number({ description: "Dollars for all workers together" }),
  cost_per_1000_requests: Type.Union([Type.Number(), Type.Null()], {
    description: "Dollars per 1,000 requests; null without requests",
  }),
  workers_max: Type.Integer({ description: "Highest number of workers at one time, stopped ones included" }),
  starts: Type.Integer({ description: "Number of times that a worker was rented or started" }),
  stops: Type.Integer({ description: "Number of times that a worker was stopped or destroyed" }),
  flaps: Type.Integer({ description: "Changes in the number of workers that were reverted within a minute" }),
});
export type SimulatedFigures = Static<typeof SimulatedFigures>;

export const SimulateResponse = Type.Object({
  success: Type.Literal(true),
  sentence: Type.String(),
  from: Type.Optional(Type.Number({ description: "Time in seconds since the epoch; absent for a trace" })),
  to: Type.Optional(Type.Number({ description: "Time in seconds since the epoch; absent for a trace" })),
  decided_every: Type.Number({ description: "Seconds between two decisions; waiting requests cause further ones" }),
  worker: Type.Object({
    perf: Type.Number(),
    price_per_hour: Type.Number(),
    storage_per_hour: Type.Number(),
    first_start_s: Type.Number(),
    warm_start_s: Type.Number(),
    parallel_requests: Type.Integer(),
  }),
  present: SimulatedFigures,
  proposed: SimulatedFigures,
});
export type SimulateResponse = Static<typeof SimulateResponse>;
