import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

export const EndpointWorkersBody = Type.Object({
  id: Type.Integer({ description: "The endpoint." }),
  api_key: Type.Optional(Type.String({ description: "The key, for callers that send no header." })),
});

export const WorkerGroupWorkersBody = Type.Object({
  id: Type.Integer({ description: "The worker group." }),
  api_key: Type.Optional(Type.String({ description: "The key, for callers that send no header." })),
});

const Known = (description: string) => Type.Optional(Type.Number({ description }));

/** A worker. Unknown fields are left out: published clients fail on null. */
export const WorkerRecord = model("Worker", {
  id: Type.Integer({ description: "Its instance." }),
  status: Type.String({
    description:
      "creating, loading, model_loading, starting, idle (it is ready), update_ready, stopping, stopped, unavail (it does not report), error or destroying",
  }),
  created_at: Type.Number({ description: "Unix time." }),
  cur_load: Known("Units in progress."),
  reqs_working: Type.Optional(Type.Integer({ description: "Requests in progress." })),
  perf: Known("Units a second that requests are routed by."),
  measured_perf: Known("Units a second by its own benchmark."),
  cur_perf: Known("Units a second as it was seen to serve while it had enough to do."),
  dlperf: Known("Of all its devices together."),
  reliability: Known("Of its machine, from 0 to 1."),
  gpu_name: Type.Optional(Type.String()),
  dph_total: Known("Dollars an hour at present: for its devices only while it runs."),
  disk_usage: Known("GB that it reported to have added."),
  started_at: Known("Unix time of the last order to start."),
  loaded_at: Known("Unix time at which it said that it was ready."),
  url: Type.Optional(Type.String({ description: "Where it takes requests." })),
  machine_id: Type.Optional(Type.Integer()),
  workergroup_id: Type.Optional(Type.Integer()),
  error_msg: Type.Optional(Type.String({ description: "Why it failed." })),
});
export type WorkerRecord = Static<typeof WorkerRecord>;

/** A bare list: the serverless SDK takes nothing else. */
export const WorkerListResponse = Type.Array(WorkerRecord);

export const WorkerGroupWorkersResponse = Type.Object({ workers: Type.Array(WorkerRecord) });
