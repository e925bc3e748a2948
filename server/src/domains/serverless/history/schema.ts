import { Type } from "typebox";
import { model } from "../../../http/model.ts";

export const HistoryQuery = Type.Object(
  {
    from: Type.Optional(Type.Number({ minimum: 0, maximum: 32_503_680_000 })),
    to: Type.Optional(Type.Number({ minimum: 0, maximum: 32_503_680_000 })),
    step: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  },
  { additionalProperties: true },
);

const numbers = (description: string, example: number) =>
  Type.Array(Type.Number(), { description, examples: [[example]] });
const numbersOrNull = (description: string, example: number) =>
  Type.Array(Type.Union([Type.Number(), Type.Null()]), {
    description: `${description}; null before the first decision that is known`,
    examples: [[example]],
  });

export const EndpointHistory = Type.Object({
  success: Type.Literal(true),
  from: Type.Number({ description: "Beginning of the first step, in seconds since 1970", examples: [1_767_225_600] }),
  to: Type.Number({ description: "End of the last step, in seconds since 1970", examples: [1_767_229_200] }),
  step_s: Type.Integer({ description: "Length of a step, in seconds", examples: [60] }),
  at: numbers("Beginnings of the steps, in seconds since 1970; all lists are parallel to this one", 1_767_225_600),
  load: numbers("Mean load that arrived, in units a second", 27.6),
  requests: Type.Array(Type.Number()),
  waited: numbers("Requests that waited before they got a worker", 3),
  wait_mean: numbers("Mean wait of those that waited, in seconds", 0.4),
  wait_max: numbers("Longest wait, in seconds", 0.8),
  queued: numbersOrNull("Longest queue of requests without a worker, as decisions saw it", 4),
  capacity: model(
    "EndpointCapacityHistory",
    {
      ready: numbersOrNull("Units a second that ready workers served at the end of the step", 38.7),
      starting: numbersOrNull("Units a second that starting workers would serve, as far as known", 19.3),
      stopped: numbersOrNull("Units a second that stopped workers could serve", 19.3),
    },
    { description: "Capacity over time" },
  ),
  workers: model(
    "EndpointWorkersHistory",
    {
      ready: numbersOrNull("Workers that took requests at the end of the step", 2),
      starting: numbersOrNull("Workers that were ordered, loaded or started", 1),
      stopping: numbersOrNull("Workers that took no more requests or stopped", 0),
      stopped: numbersOrNull("Stopped workers, which start faster than new ones", 1),
      failed: numbersOrNull("Workers that failed and still cost", 0),
    },
    { description: "Workers by state over time" },
  ),
  cost_per_hour: numbersOrNull("Cost of all workers, in dollars an hour", 1.25),
  decisions: Type.Array(
    model("EndpointDecision", {
      at: Type.Number({ description: "Time of the decision, in seconds since 1970", examples: [1_767_225_640] }),
      reason: Type.Union([Type.String(), Type.Null()], {
        description: "Kind of situation",
        examples: ["scale_up"],
      }),
      sentence: Type.String({
        description: "The situation and what follows, in a sentence",
        examples: ["No load is expected; 1 worker is stopped."],
      }),
    }),
    { description: "The newest decisions of the span, 500 at most, by time" },
  ),
});
