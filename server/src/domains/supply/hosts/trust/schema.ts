import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Success = Type.Literal(true);
const ms = (description: string) => Type.Integer({ description: `${description}, in milliseconds` });

export const MachineParams = Type.Object({ id: Type.String() });

const ReliabilityDay = model("ReliabilityDay", {
  day: Type.Integer({ description: "Days since 1970-01-01, UTC" }),
  online_ms: ms("Time that it was connected"),
  offline_ms: ms("Time that it was away without announced maintenance, although it was listed or rented"),
  offline_rented_ms: ms("The part of that time in proportion to the share of its GPUs that renters held"),
  maintenance_ms: ms("Time that it was away in a maintenance that was announced an hour ahead"),
  starts_succeeded: Type.Integer({ description: "Runs of instances that started" }),
  starts_failed: Type.Integer({
    description: "Runs that did not start by the machine's own fault, at most one an hour for each renter",
  }),
});

export const ReliabilityResponse = model("MachineReliability", {
  success: Success,
  machine_id: Type.Integer(),
  is_simulated: Type.Boolean({
    description: "True for a simulated machine: of the operator's own, days in which nobody saw it are invented",
  }),
  reliability: Type.Number({ description: "Reliability of the days below, from 0 to 1, cut off after four decimals" }),
  shown_reliability: Type.Number({
    description: "Reliability that offers show, from 0 to 1; it follows within ten minutes",
  }),
  formula: Type.String(),
  window_days: Type.Integer(),
  terms: model("ReliabilityTerms", {
    prior_ms: ms("Time with which every machine begins, at a reliability of 0.6"),
    online_ms: ms("Time online"),
    offline_ms: ms("Time offline, with maintenance beyond 24 hours"),
    offline_rented_extra_ms: ms("Three times the rented part of it"),
    failed_starts_ms: ms("Two hours for each start that failed"),
  }),
  days: Type.Array(ReliabilityDay, { description: "Days with facts, the newest first" }),
});
export type ReliabilityResponse = Static<typeof ReliabilityResponse>;

const Verification = Type.Union([Type.Literal("verified"), Type.Literal("unverified"), Type.Literal("deverified")]);

const TRUST = {
  machine_id: Type.Integer(),
  verification: Verification,
  decided_by: Type.Union([Type.Literal("rule"), Type.Literal("administrator"), Type.Literal("operator")], {
    description: "The rule of the checks, an administrator by hand, or the operator whose own machine it is",
  }),
  hosting_type: Type.Integer({ description: "1 in a data centre that an operator has seen, else 0" }),
};

export const VerificationResponse = model("MachineVerification", {
  success: Success,
  ...TRUST,
  msg: Type.String(),
  checks: Type.Array(
    model("VerificationCheck", {
      name: Type.String(),
      value: Type.Union([Type.Number(), Type.Boolean()]),
      needed: Type.Union([Type.Number(), Type.Boolean()]),
      passed: Type.Boolean(),
      msg: Type.String(),
    }),
  ),
  line: model(
    "MachineUplink",
    {
      inet_up: Type.Number({ description: "Declared speed of the uplink, in Mbit/s" }),
      inet_down: Type.Number({ description: "Declared speed of the uplink, in Mbit/s" }),
      measured_inet_up: Type.Union([Type.Number(), Type.Null()], {
        description:
          "The best upload speed that a server measured within a week, in Mbit/s; null without a measurement",
      }),
      measured_inet_down: Type.Union([Type.Number(), Type.Null()]),
      measured_at: Type.Union([Type.Number(), Type.Null()], {
        description: "Time of the last measurement, in seconds since the epoch; null when there was none",
      }),
      measured_count: Type.Integer({ description: "Number of measurements within a week" }),
    },
    { description: "The uplink as it is declared and as it was measured; simulated machines are not measured" },
  ),
  rests_until: Type.Union([Type.Number(), Type.Null()], {
    description:
      "Time until which it is not rented out because its last starts failed, in seconds since the epoch; null when it does not rest",
  }),
  rest_reason: Type.Union([Type.String(), Type.Null()]),
});
export type VerificationResponse = Static<typeof VerificationResponse>;

export const DecideBody = Type.Object({
  verification: Type.Optional(
    Type.Union([Type.Literal("verified"), Type.Literal("unverified"), Type.Literal("automatic")], {
      description: "`automatic` gives it back to the rule",
    }),
  ),
  hosting_type: Type.Optional(Type.Integer({ minimum: 0, maximum: 1, description: "1 in a data centre" })),
});

export const DecideResponse = Type.Object({ success: Success, ...TRUST });
export type DecideResponse = Static<typeof DecideResponse>;
