import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

export const SpendQuery = Type.Object({
  start: Type.Optional(Type.Number()),
  end: Type.Optional(Type.Number()),
});

const spent = {
  worker_count: Type.Integer({ description: "Number of instances that worked for it and were charged" }),
  amount: Type.Number({ description: "Dollars" }),
  amount_exact: Type.String({ description: "Dollars, with every digit" }),
  gpu: Type.String(),
  disk: Type.String(),
  bandwidth: Type.String(),
  unpaid: Type.String({ description: "Dollars that were due besides and could not be paid, with every digit" }),
};

export const EndpointSpend = model("EndpointSpend", {
  endpoint_id: Type.Integer(),
  endpoint_name: Type.Optional(
    Type.String({ description: "Name of the endpoint; absent when it is not known any more" }),
  ),
  ...spent,
});
export type EndpointSpend = Static<typeof EndpointSpend>;

export const WorkerGroupSpend = model("WorkerGroupSpend", {
  workergroup_id: Type.Optional(
    Type.Integer({ description: "Id of the worker group; absent for workers from before there were worker groups" }),
  ),
  endpoint_id: Type.Integer(),
  ...spent,
});
export type WorkerGroupSpend = Static<typeof WorkerGroupSpend>;

const answer = {
  success: Type.Literal(true),
  start: Type.Number(),
  end: Type.Number(),
  total: Type.String(),
};

/** The present cost of an endpoint or a worker group. */
const HourlySpend = model("HourlySpend", {
  id: Type.Integer({ description: "Id of the endpoint or the worker group", examples: [15] }),
  hourly_spend: Type.Number({
    description:
      "Dollars that its present workers cost an hour, with their disks; without traffic, and running time that is prepaid",
    examples: [1.25],
  }),
});

const present = {
  data_timestamp: Type.Number({ description: "Time of `hourly_spend`, in seconds since the epoch" }),
};

export const EndpointSpendResponse = Type.Object({
  ...answer,
  results: Type.Array(EndpointSpend),
  endpoints: Type.Array(HourlySpend, { description: "All endpoints of the caller, with what they cost now" }),
  ...present,
});
export const WorkerGroupSpendResponse = Type.Object({
  ...answer,
  results: Type.Array(WorkerGroupSpend),
  workergroups: Type.Array(HourlySpend, { description: "All worker groups of the caller, with what they cost now" }),
  ...present,
});
