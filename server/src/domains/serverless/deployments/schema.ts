import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { EndpointBody } from "../endpoints/schema.ts";
import { DEFAULT_STORAGE_GB, DEFAULT_TAG, FILE_BYTES_MAX } from "./deployment.ts";

const nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.Number>>(of: T) =>
  Type.Union([of, Type.Null()]);

/** A deployment as a request states it. `deployment.ts` checks the ranges. */
export const DeploymentBody = Type.Object({
  ...EndpointBody.properties,
  endpoint_name: Type.Optional(Type.String()),
  name: Type.String(),
  tag: Type.Optional(Type.String({ default: DEFAULT_TAG })),
  image: Type.String(),
  file_hash: Type.String({
    description: "SHA-256 in hexadecimal digits that names the code: of the .tar.gz file, or of its content",
  }),
  file_size: Type.Integer({ description: `Size of the file, in bytes, at most ${FILE_BYTES_MAX}` }),
  env: Type.Optional(
    Type.String({ description: "Variables and ports of the container as options, such as `-e A=b -p 8000:8000`" }),
  ),
  search_params: Type.Optional(
    Type.String({ description: "Search for the offers to rent, such as `gpu_name=RTX_4090 num_gpus=1`" }),
  ),
  storage: Type.Optional(Type.Number({ description: "Disk of each worker, in GB", default: DEFAULT_STORAGE_GB })),
  ttl: Type.Optional(
    Type.Number({
      description: "Seconds without a heartbeat after which the deployment is deleted; without the field never",
    }),
  ),
  version_label: Type.Optional(Type.String({ description: "Name of the version" })),
  docker_login_user: Type.Optional(Type.String({ maxLength: 256 })),
  docker_login_pass: Type.Optional(Type.String({ maxLength: 4096 })),
  docker_login_repo: Type.Optional(Type.String({ maxLength: 256 })),
});
export type DeploymentBody = Static<typeof DeploymentBody>;

export const DeploymentPath = Type.Object({ id: Type.Integer() });
export const FilePath = Type.Object({ id: Type.Integer(), token: Type.String({ maxLength: 256 }) });

export const DeployResponse = Type.Object({
  success: Type.Literal(true),
  action: Type.String(),
  deployment_id: Type.Integer(),
  endpoint_id: Type.Integer(),
  workergroup_id: Type.Optional(Type.Integer()),
  upload_url: Type.Optional(Type.String()),
  upload_fields: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  evicted_versions: Type.Optional(
    Type.Array(
      model("EvictedVersion", {
        id: Type.Integer(),
        file_hash: Type.String(),
        version_label: Type.String(),
        file_size: Type.Integer(),
      }),
    ),
  ),
});

export const DeploymentRecord = model("Deployment", {
  id: Type.Integer(),
  name: Type.String(),
  tag: Type.String(),
  image: Type.String(),
  env: Type.String(),
  file_hash: Type.String({ description: "SHA-256 of the code that workers run, or that they will run first" }),
  s3_key: Type.Union([Type.String(), Type.Null()]),
  search_params: Type.String(),
  storage: Type.Number(),
  ttl: nullable(Type.Number()),
  endpoint_id: nullable(Type.Integer()),
  endpoint_state: Type.Union([Type.String(), Type.Null()]),
  workergroup_id: nullable(Type.Integer()),
  worker_count: Type.Integer(),
  current_version_id: nullable(Type.Integer()),
  last_healthy_version_id: nullable(Type.Integer()),
  last_client_heartbeat: Type.Number(),
  created_at: Type.Number(),
  updated_at: Type.Number(),
});
export type DeploymentRecord = Static<typeof DeploymentRecord>;

export const VersionRecord = model("DeploymentVersion", {
  id: Type.Integer(),
  deployment_id: Type.Integer(),
  version_label: Type.String(),
  file_hash: Type.String(),
  file_size: Type.Integer(),
  state: Type.String(),
  is_current: Type.Boolean(),
  is_last_healthy: Type.Boolean(),
  image: Type.String(),
  env: Type.String(),
  storage: Type.Number(),
  created_at: Type.Number(),
  last_used_at: nullable(Type.Number()),
});
export type VersionRecord = Static<typeof VersionRecord>;

export const ListDeploymentsResponse = Type.Object({
  success: Type.Literal(true),
  deployments: Type.Array(DeploymentRecord),
});
export const ShowDeploymentResponse = Type.Object({ success: Type.Literal(true), deployment: DeploymentRecord });
export const VersionsResponse = Type.Object({ success: Type.Literal(true), versions: Type.Array(VersionRecord) });
export const DeleteNamedBody = Type.Object({
  name: Type.String(),
  tag: Type.Optional(Type.String()),
});
export const DeleteNamedResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer({ description: "Number of deleted deployments" }),
});
export const StateResponse = model("DeploymentState", { success: Type.Literal(true), endpoint_state: Type.String() });
export const DoneResponse = Type.Object({ success: Type.Literal(true) });
export const HeartbeatResponse = Type.Object({ success: Type.Literal(true), deployment_id: Type.Integer() });
export const DownloadResponse = Type.Object({
  success: Type.Literal(true),
  download_url: Type.String(),
});
