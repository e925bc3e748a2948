import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

export const EndpointWorkersBody = Type.Object({
  id: Type.Integer({ description: "The endpoint." }),
  api_key: Type.Optional(Type.String()),
});

export const WorkerGroupWorkersBody = Type.Object({
  id: Type.Integer(),
  api_key: Type.Optional(Type.String()),
});

const Known = (description: string) => Type.Optional(Type.Number({ description }));

/** A worker. Unknown fields are left out: published clients fail on null. */
export const WorkerRecord = model("Worker", {
  id: Type.Integer({ description: "Its instance." }),
  status: Type.String(),
  created_at: Type.Number(),
  cur_load: Known("Units in progress."),
  reqs_working: Type.Optional(Type.Integer()),
  perf: Known("Units a second that requests are routed by."),
  measured_perf: Known("Units a second by its own benchmark."),
  cur_perf: Known("Units a second as it was seen to serve while it had enough to do."),
  dlperf: Known("Of all its devices together."),
  reliability: Known("Of its machine, from 0 to 1."),
  gpu_name: Type.Optional(Type.String()),
  dph_total: Known("Dollars an hour at present: for its devices only while it runs."),
  disk_usage: Known("GB that it reported to have added."),
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
