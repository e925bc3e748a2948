import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { EndpointBody } from "../endpoints/schema.ts";
import { DEFAULT_STORAGE_GB, DEFAULT_TAG, FILE_BYTES_MAX } from "./deployment.ts";

const nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.Number>>(of: T) =>
  Type.Union([of, Type.Null()]);

/** A deployment as a request states it. Ranges are in `deployment.ts`. */
export const DeploymentBody = Type.Object({
  ...EndpointBody.properties,
  endpoint_name: Type.Optional(Type.String({ description: "The deployment's name, with its tag, unless given." })),
  name: Type.String({ description: "1 to 200 characters." }),
  tag: Type.Optional(Type.String({ description: "Each tag has an endpoint of its own.", default: DEFAULT_TAG })),
  image: Type.String({ description: "What the code runs in." }),
  file_hash: Type.String({
    description: "Names the code: a SHA-256 in hexadecimal digits, of the .tar.gz file or of what is in it.",
  }),
  file_size: Type.Integer({ description: `Its bytes, at most ${FILE_BYTES_MAX}.` }),
  env: Type.Optional(Type.String({ description: "Options of a container: -e A=b -p 8000:8000." })),
  search_params: Type.Optional(Type.String({ description: "Which offers to rent: gpu_name=RTX_4090 num_gpus=1." })),
  storage: Type.Optional(Type.Number({ description: "GB of disk.", default: DEFAULT_STORAGE_GB })),
  ttl: Type.Optional(
    Type.Number({ description: "Seconds without a heartbeat after which it is torn down; absent: never." }),
  ),
  version_label: Type.Optional(Type.String({ description: "What to call this version." })),
  docker_login_user: Type.Optional(Type.String({ maxLength: 256 })),
  docker_login_pass: Type.Optional(Type.String({ maxLength: 4096 })),
  docker_login_repo: Type.Optional(Type.String({ maxLength: 256 })),
});
export type DeploymentBody = Static<typeof DeploymentBody>;

export const DeploymentPath = Type.Object({ id: Type.Integer({ description: "The deployment." }) });
export const FilePath = Type.Object({ id: Type.Integer(), token: Type.String({ maxLength: 256 }) });

export const DeployResponse = Type.Object({
  success: Type.Literal(true),
  action: Type.String({
    description: "created, soft_update (workers are made anew), autoscale_update (other settings only), or exists.",
  }),
  deployment_id: Type.Integer(),
  endpoint_id: Type.Integer(),
  workergroup_id: Type.Optional(Type.Integer({ description: "Once there is code." })),
  upload_url: Type.Optional(
    Type.String({ description: "Where to POST the code within the hour, as a multipart form: these fields, a file." }),
  ),
  upload_fields: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  evicted_versions: Type.Optional(Type.Array(Type.Integer(), { description: "Versions that were forgotten." })),
});

export const DeploymentRecord = model("Deployment", {
  id: Type.Integer(),
  name: Type.String(),
  tag: Type.String(),
  image: Type.String(),
  env: Type.String(),
  file_hash: Type.String({ description: "Of the code that workers run, or are to run first." }),
  s3_key: Type.Union([Type.String(), Type.Null()], { description: "Names the code that workers run." }),
  search_params: Type.String(),
  storage: Type.Number({ description: "GB." }),
  ttl: nullable(Type.Number()),
  endpoint_id: nullable(Type.Integer()),
  endpoint_state: Type.Union([Type.String(), Type.Null()]),
  workergroup_id: nullable(Type.Integer()),
  worker_count: Type.Integer(),
  current_version_id: nullable(Type.Integer()),
  last_healthy_version_id: nullable(Type.Integer()),
  last_client_heartbeat: Type.Number({ description: "Unix time." }),
  created_at: Type.Number({ description: "Unix time." }),
  updated_at: Type.Number({ description: "Unix time." }),
});
export type DeploymentRecord = Static<typeof DeploymentRecord>;

export const VersionRecord = model("DeploymentVersion", {
  id: Type.Integer(),
  deployment_id: Type.Integer(),
  version_label: Type.String(),
  file_hash: Type.String(),
  file_size: Type.Integer(),
  state: Type.String({ description: "awaiting until all of its code was uploaded, then complete." }),
  is_current: Type.Boolean(),
  is_last_healthy: Type.Boolean(),
  image: Type.String(),
  env: Type.String(),
  storage: Type.Number({ description: "GB." }),
  created_at: Type.Number({ description: "Unix time." }),
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
  tag: Type.Optional(Type.String({ description: "All tags unless given." })),
});
export const DeleteNamedResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer({ description: "How many were deleted." }),
});
export const StateResponse = model("DeploymentState", { success: Type.Literal(true), endpoint_state: Type.String() });
export const DoneResponse = Type.Object({ success: Type.Literal(true) });
export const DownloadResponse = Type.Object({
  success: Type.Literal(true),
  download_url: Type.String({ description: "Serves the code for ten minutes, without a key." }),
});
