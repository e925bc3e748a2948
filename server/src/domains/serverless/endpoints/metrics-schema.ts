import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

export const MetricsBody = Type.Object({
  endpoint_id: Type.Optional(
    Type.Integer({ description: "Id of one endpoint; all endpoints of the caller when left out" }),
  ),
  start: Type.Optional(
    Type.Number({
      description: "Beginning of the span, in seconds since the epoch; an hour before the end by default",
    }),
  ),
  end: Type.Optional(Type.Number()),
  start_date: Type.Optional(Type.Number({ description: "Another name of `start`, which wins" })),
  end_date: Type.Optional(Type.Number({ description: "Another name of `end`, which wins" })),
  step: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400, default: 60, description: "Seconds that each row covers" }),
  ),
});

/** Traffic of one endpoint in one period; periods without any have no row. */
export const MetricsRow = model("EndpointTraffic", {
  endpoint_id: Type.Integer(),
  at: Type.Number({ description: "Beginning of the period, in seconds since the epoch" }),
  requests: Type.Integer(),
  load: Type.Number({ description: "Mean load over the period, in units a second" }),
  waited: Type.Integer({ description: "Requests that waited before they got a worker" }),
  wait_mean: Type.Number({ description: "Mean wait of the requests that waited, in seconds" }),
  wait_max: Type.Number(),
});
export type MetricsRow = Static<typeof MetricsRow>;

/** The value of one metric in one period, over all endpoints of the answer. */
export const MetricsPoint = model("MetricsPoint", {
  timestamp: Type.Number({ description: "Beginning of the period, in seconds since the epoch" }),
  value: Type.String({ description: "Value of the metric, a number as text" }),
});
export type MetricsPoint = Static<typeof MetricsPoint>;

export const MetricsResponse = Type.Object({
  success: Type.Literal(true),
  start: Type.Number(),
  end: Type.Number(),
  step: Type.Integer(),
  results: Type.Record(Type.String(), Type.Array(MetricsPoint)),
  rows: Type.Array(MetricsRow),
});
