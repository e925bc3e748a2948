// Members of answers about endpoints, their workers and deployments.
import type { MemberTable } from "./members.ts";

const ENDPOINT = [
  "id endpoint_name api_key user_id created_at min_load min_cold_load target_util cold_mult cold_workers max_workers",
  "max_queue_time? target_queue_time? inactivity_timeout? endpoint_state auto_delete_in_seconds? auto_delete_due_24h",
];
const endpointAt = (path: string) => ENDPOINT.map((words) => `${path}: ${words}`);

const GROUPS = [
  "success",
  "results[]: id endpoint_id endpoint_name template_hash? template_id? search_params search_query launch_args gpu_ram",
  "results[]: min_load target_util cold_mult cold_workers max_workers test_workers api_key created_at user_id",
];
const DELETED = ["success deleted_workers[] failed_workers[] msg"];
const LOGS = ["info0 info1 trace debug logs"];
const WORKER =
  "id status cur_load? cur_perf? perf? measured_perf? dlperf? reliability? disk_usage? " +
  "loaded_at? started_at? reqs_working? gpu_name? url? created_at?";

/** The lines of the record of a deployment under this path. */
const deploymentAt = (path: string) => [
  `${path}: id name tag image file_hash current_version_id created_at updated_at endpoint_id endpoint_state worker_count`,
  `${path}: env s3_key search_params last_healthy_version_id storage ttl last_client_heartbeat`,
];

export const SERVERLESS_MEMBERS: MemberTable = {
  "POST /api/v0/endptjobs/": ["success result"],
  "GET /api/v0/endptjobs/": ["success", ...endpointAt("results[]")],
  "GET /api/v0/endptjobs/{id}/": ["success", ...endpointAt("result")],
  "PUT /api/v0/endptjobs/{id}/": ["success"],
  "DELETE /api/v0/endptjobs/{id}/": DELETED,
  "POST /api/v0/workergroups/": ["success id result"],
  "POST /api/v0/autojobs/": ["success id result"],
  "GET /api/v0/workergroups/": GROUPS,
  "GET /api/v0/autojobs/": GROUPS,
  "PUT /api/v0/workergroups/{id}/": ["success"],
  "PUT /api/v0/autojobs/{id}/": ["success"],
  "DELETE /api/v0/workergroups/{id}/": DELETED,
  "DELETE /api/v0/autojobs/{id}/": DELETED,

  "GET /api/v0/deployments/": ["success", ...deploymentAt("deployments[]")],
  "PUT /api/v0/deployments/": [
    "success action deployment_id endpoint_id workergroup_id? upload_url? upload_fields?",
    "evicted_versions?[]: id file_hash version_label file_size",
  ],
  "DELETE /api/v0/deployments/": ["success count"],
  "GET /api/v0/deployment/{id}/": ["success", ...deploymentAt("deployment")],
  "DELETE /api/v0/deployment/{id}/": ["success"],
  "GET /api/v0/deployment/{id}/versions/": ["success", "versions[]: id file_hash version_label file_size last_used_at"],
  "POST /api/v0/deployment/{id}/start/": ["success endpoint_state"],
  "POST /api/v0/deployment/{id}/stop/": ["success endpoint_state"],
  "POST /api/v0/deployment/{id}/heartbeat/": ["success deployment_id"],
  "GET /api/v0/deployment/{id}/download_url/": ["success download_url"],

  "GET /api/v0/serverless/endpoints/spend/": ["success data_timestamp", "endpoints[]: id hourly_spend"],
  "GET /api/v0/serverless/workergroups/spend/": ["success data_timestamp", "workergroups[]: id hourly_spend"],
  "POST /api/v0/serverless/metrics/": ["success", "results.*[]: timestamp value"],

  "POST /route/": ["endpoint cost request_idx __request_id url? reqnum? signature? status?"],
  "POST /get_endpoint_workers/": [`[]: ${WORKER}`],
  "POST /get_workergroup_workers/": [`workers[]: ${WORKER}`],
  "POST /get_endpoint_logs/": LOGS,
  "POST /get_workergroup_logs/": LOGS,
  "POST /get_autogroup_logs/": LOGS,
  "POST /update_workers/": ["success cancelled? workers_to_update"],
};
