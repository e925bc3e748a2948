import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

export const EndpointWorkersBody = Type.Object({
  id: Type.Integer({ description: "Id of the endpoint" }),
  api_key: Type.Optional(Type.String()),
});

export const WorkerGroupWorkersBody = Type.Object({
  id: Type.Integer(),
  api_key: Type.Optional(Type.String()),
});

const Known = (description: string) => Type.Optional(Type.Number({ description }));

/** A worker. Unknown fields are left out: published clients fail on null. */
export const WorkerRecord = model("Worker", {
  id: Type.Integer({ description: "Id of the worker, which is its instance" }),
  status: Type.String(),
  created_at: Type.Number(),
  cur_load: Known("Load in progress, in units"),
  reqs_working: Type.Optional(Type.Integer()),
  perf: Known("Performance by which requests are routed, in units a second"),
  measured_perf: Known("Performance by its own benchmark, in units a second"),
  cur_perf: Known("Performance that was measured while it always had work, in units a second"),
  dlperf: Type.Optional(Type.Number()),
  reliability: Type.Optional(Type.Number()),
  gpu_name: Type.Optional(Type.String()),
  dph_total: Type.Optional(Type.Number()),
  disk_usage: Type.Optional(Type.Number()),
  started_at: Known("Time of the last order to start, in seconds since the epoch"),
  loaded_at: Known("Time at which it reported to be ready, in seconds since the epoch"),
  url: Type.Optional(Type.String()),
  machine_id: Type.Optional(Type.Integer()),
  workergroup_id: Type.Optional(Type.Integer()),
  error_msg: Type.Optional(Type.String()),
});
export type WorkerRecord = Static<typeof WorkerRecord>;

/** The answer is a bare list: the serverless SDK takes nothing else. */
export const WorkerListResponse = Type.Array(WorkerRecord);

export const WorkerGroupWorkersResponse = Type.Object({ workers: Type.Array(WorkerRecord) });
