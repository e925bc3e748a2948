import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { DEFAULT_WORKER_GROUP } from "./worker-group.ts";

/** A worker group as a request states it. `worker-group.ts` checks the ranges. */
export const WorkerGroupBody = model("WorkerGroupSettings", {
  endpoint_id: Type.Optional(Type.Integer({ description: "Id of the endpoint, instead of its name" })),
  endpoint_name: Type.Optional(Type.String({ maxLength: 255 })),
  template_hash: Type.Optional(Type.String({ maxLength: 64, description: "Hash of the template of the workers" })),
  template_id: Type.Optional(Type.Integer()),
  search_params: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String()), Type.Object({}, { additionalProperties: true })]),
  ),
  launch_args: Type.Optional(
    Type.String({
      description: "Options of a command line that makes an instance, such as `--image i --env '-e A=b' --disk 40`",
    }),
  ),
  gpu_ram: Type.Optional(Type.Number({ default: DEFAULT_WORKER_GROUP.gpuRamGb })),
  test_workers: Type.Optional(
    Type.Integer({
      description: "Workers that are rented first, to measure performance",
      default: DEFAULT_WORKER_GROUP.testWorkers,
    }),
  ),
  cold_workers: Type.Optional(
    Type.Integer({
      default: DEFAULT_WORKER_GROUP.coldWorkers,
    }),
  ),
  max_workers: Type.Optional(Type.Integer({ default: DEFAULT_WORKER_GROUP.maxWorkers })),
  max_dph: Type.Optional(Type.Number()),
  min_load: Type.Optional(Type.Number({ default: DEFAULT_WORKER_GROUP.minLoad })),
  min_cold_load: Type.Optional(Type.Number({ default: DEFAULT_WORKER_GROUP.minColdLoad })),
  target_util: Type.Optional(Type.Number({ default: DEFAULT_WORKER_GROUP.targetUtil })),
  cold_mult: Type.Optional(Type.Number({ default: DEFAULT_WORKER_GROUP.coldMult })),
  docker_login_user: Type.Optional(Type.String({ maxLength: 256 })),
  docker_login_pass: Type.Optional(Type.String({ maxLength: 4096 })),
  docker_login_repo: Type.Optional(Type.String({ maxLength: 256 })),
});

export const WorkerGroupPath = Type.Object({ id: Type.Integer() });

export const CreateWorkerGroupResponse = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer(),
  result: Type.Integer(),
});

export const WorkerGroupRecord = model("WorkerGroup", {
  id: Type.Integer(),
  endpoint_id: Type.Integer(),
  endpoint_name: Type.String(),
  user_id: Type.Integer(),
  api_key: Type.Optional(Type.String()),
  template_id: Type.Optional(Type.Integer()),
  template_hash: Type.String(),
  search_params: Type.String(),
  search_query: Type.Object({}, { additionalProperties: true }),
  launch_args: Type.String(),
  gpu_ram: Type.Number(),
  test_workers: Type.Integer(),
  cold_workers: Type.Integer(),
  max_workers: Type.Integer(),
  max_dph: Type.Optional(Type.Number()),
  is_max_dph_by_owner: Type.Boolean({
    description: "True when the owner set `max_dph`, false when it follows from the market's usual price",
  }),
  waits_for_price_since: Type.Optional(
    Type.Number({
      description: "Time since which every matching offer costs more than `max_dph`, in seconds since the epoch",
    }),
  ),
  min_load: Type.Number(),
  min_cold_load: Type.Number(),
  target_util: Type.Number(),
  cold_mult: Type.Number(),
  generation: Type.Integer({ description: "Number of the recipe of the workers; each change of the recipe raises it" }),
  is_updating: Type.Boolean(),
  failure_count: Type.Integer({ description: "Number of workers that failed in a row" }),
  resumes_at: Type.Optional(
    Type.Number({ description: "Time before which no worker is rented, in seconds since the epoch" }),
  ),
  created_at: Type.Number(),
});
export type WorkerGroupRecord = Static<typeof WorkerGroupRecord>;

export const ListWorkerGroupsResponse = Type.Object({
  success: Type.Literal(true),
  results: Type.Array(WorkerGroupRecord),
});
export const UpdateWorkerGroupResponse = Type.Object({ success: Type.Literal(true) });
