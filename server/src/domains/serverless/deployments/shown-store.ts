import { sql } from "kysely";
import type { DeploymentId, EndpointGroupId, UserId, WorkerGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

export type ShownDeployment = {
  readonly id: DeploymentId;
  readonly name: string;
  readonly tag: string;
  readonly endpoint_id: EndpointGroupId | null;
  readonly endpoint_state: string | null;
  readonly workergroup_id: WorkerGroupId | null;
  readonly worker_count: number;
  readonly search_params: string;
  readonly ttl_s: number | null;
  readonly wanted_version_id: number | null;
  readonly current_version_id: number | null;
  readonly last_healthy_version_id: number | null;
  readonly last_client_heartbeat_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly image: string;
  readonly sealed_env: string;
  readonly storage_gb: number;
  readonly file_hash: string;
};

/** A user's deployments, or one of them, with their endpoints and with the version that runs or will run first. */
export async function listShownDeployments(
  db: Reader,
  userId: UserId,
  id: DeploymentId | "all",
): Promise<readonly ShownDeployment[]> {
  const query = db
    .selectFrom("deployments")
    .innerJoin("deployment_versions as version", (join) =>
      join.on(sql<boolean>`version.id = coalesce(deployments.current_version_id, deployments.wanted_version_id)`),
    )
    .leftJoin("endpoint_groups as endpoint", (join) =>
      join.onRef("endpoint.id", "=", "deployments.endpoint_group_id").on("endpoint.deleted_at", "is", null),
    )
    .leftJoin("worker_groups as workergroup", (join) =>
      join.onRef("workergroup.id", "=", "deployments.worker_group_id").on("workergroup.deleted_at", "is", null),
    )
    .select([
      "deployments.id",
      "deployments.name",
      "deployments.tag",
      "endpoint.id as endpoint_id",
      "endpoint.state as endpoint_state",
      "workergroup.id as workergroup_id",
      "deployments.search_params",
      "deployments.ttl_s",
      "deployments.wanted_version_id",
      "deployments.current_version_id",
      "deployments.last_healthy_version_id",
      "deployments.last_client_heartbeat_at",
      "deployments.created_at",
      "deployments.updated_at",
      "version.image",
      "version.env as sealed_env",
      "version.storage_gb",
      "version.file_hash",
    ])
    .select(
      sql<number>`(select count(*)::integer from endpoint_workers as worker
        where worker.endpoint_group_id = deployments.endpoint_group_id and worker.state = 'active')`.as("worker_count"),
    )
    .where("deployments.user_id", "=", userId)
    .orderBy("deployments.id");
  return (id === "all" ? query : query.where("deployments.id", "=", id)).execute();
}
