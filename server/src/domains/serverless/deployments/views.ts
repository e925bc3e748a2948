import { epochSeconds } from "../../../base/clock.ts";
import type { Deployment } from "./deployment.ts";
import type { DeploymentRecord, VersionRecord } from "./schema.ts";
import type { ShownDeployment } from "./shown-store.ts";
import type { StoredVersion } from "./version-store.ts";

/** The API's record of a deployment. `env` is the decrypted text. */
export function deploymentRecord(shown: ShownDeployment, env: string): DeploymentRecord {
  const { id, file_hash: fileHash, current_version_id: currentId } = shown;
  return {
    id,
    name: shown.name,
    tag: shown.tag,
    image: shown.image,
    env,
    file_hash: fileHash,
    s3_key: currentId === null ? null : `deployments/${id}/${fileHash}.tar.gz`,
    search_params: shown.search_params,
    storage: shown.storage_gb,
    ttl: shown.ttl_s,
    endpoint_id: shown.endpoint_id,
    endpoint_state: shown.endpoint_state,
    workergroup_id: shown.workergroup_id,
    worker_count: shown.worker_count,
    current_version_id: currentId,
    last_healthy_version_id: shown.last_healthy_version_id,
    last_client_heartbeat: epochSeconds(shown.last_client_heartbeat_at),
    created_at: epochSeconds(shown.created_at),
    updated_at: epochSeconds(shown.updated_at),
  };
}

export function evictedRecord({ id, fileHash, label, sizeBytes }: StoredVersion) {
  return { id, file_hash: fileHash, version_label: label, file_size: sizeBytes };
}

export function versionRecord(
  { version, env }: { readonly version: StoredVersion; readonly env: string },
  { currentVersionId, healthyVersionId }: Deployment,
): VersionRecord {
  return {
    id: version.id,
    deployment_id: version.deploymentId,
    version_label: version.label,
    file_hash: version.fileHash,
    file_size: version.sizeBytes,
    state: version.isComplete ? "complete" : "awaiting",
    is_current: version.id === currentVersionId,
    is_last_healthy: version.id === healthyVersionId,
    image: version.image,
    env,
    storage: version.storageGb,
    created_at: epochSeconds(version.createdAt),
    last_used_at: version.lastUsedAt === undefined ? null : epochSeconds(version.lastUsedAt),
  };
}
