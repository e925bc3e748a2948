import { sql } from "kysely";
import {
  asId,
  type ApiKeyId,
  type DeploymentId,
  type DeploymentVersionId,
  type InstanceId,
  type UserId,
  type WorkerGroupId,
} from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Deployment } from "./deployment.ts";

type Named = { readonly userId: UserId; readonly name: string; readonly tag: string };

/** Inserts an empty deployment, unless there is one of this name; waits for a concurrent insert of the same name. */
export async function claimDeployment(
  tx: Tx,
  { userId, name, tag, apiKeyId }: Named & { readonly apiKeyId: ApiKeyId },
): Promise<{ readonly deployment: Deployment; readonly isNew: boolean }> {
  const made = await tx.db
    .insertInto("deployments")
    .values({
      user_id: userId,
      api_key_id: apiKeyId,
      name,
      tag,
      search_params: "",
      last_client_heartbeat_at: tx.now,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .onConflict((conflict) => conflict.columns(["user_id", "name", "tag"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  const row = await selectDeployments(tx.db)
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("tag", "=", tag)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { deployment: toDeployment(row), isNew: made !== undefined };
}

export async function lockDeployment(tx: Tx, id: DeploymentId): Promise<Deployment | undefined> {
  const row = await selectDeployments(tx.db).where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toDeployment(row);
}

/** The number of a user's deployments. */
export async function countDeployments(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("deployments")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Locks a deployment of this user. */
export async function findDeploymentForUpdate(
  tx: Tx,
  id: DeploymentId,
  userId: UserId,
): Promise<Deployment | undefined> {
  const deployment = await lockDeployment(tx, id);
  return deployment?.userId === userId ? deployment : undefined;
}

export async function findDeployment(db: Reader, id: DeploymentId, userId: UserId): Promise<Deployment | undefined> {
  const row = await selectDeployments(db).where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
  return row && toDeployment(row);
}

/** Locks a user's deployments of this name, of one tag or of all, in the order of their ids. */
export async function listNamedForUpdate(
  tx: Tx,
  { userId, name, tag }: Omit<Named, "tag"> & { readonly tag: string | undefined },
): Promise<readonly Deployment[]> {
  let query = selectDeployments(tx.db).where("user_id", "=", userId).where("name", "=", name);
  if (tag !== undefined) query = query.where("tag", "=", tag);
  return (await query.orderBy("id").forUpdate().execute()).map(toDeployment);
}

/** Deployments whose clients are silent for longer than their ttl, longest ago first; not locked. */
export async function listSilentDeployments(db: Reader, now: Date, limit: number): Promise<readonly DeploymentId[]> {
  const rows = await db
    .selectFrom("deployments")
    .select("id")
    .where("ttl_s", "is not", null)
    .where(sql<boolean>`last_client_heartbeat_at + ttl_s * interval '1 second' <= ${now}::timestamptz`)
    .orderBy("last_client_heartbeat_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

export async function updateDeployment(
  tx: Tx,
  id: DeploymentId,
  changed: Pick<Deployment, "apiKeyId" | "endpointId" | "searchParams" | "ttlS" | "wantedVersionId">,
): Promise<void> {
  await tx.db
    .updateTable("deployments")
    .set({
      api_key_id: changed.apiKeyId,
      endpoint_group_id: changed.endpointId ?? null,
      search_params: changed.searchParams,
      ttl_s: changed.ttlS ?? null,
      wanted_version_id: changed.wantedVersionId ?? null,
      last_client_heartbeat_at: tx.now,
    })
    .where("id", "=", id)
    .execute();
}

export async function markUpdated(tx: Tx, id: DeploymentId): Promise<void> {
  await tx.db.updateTable("deployments").set({ updated_at: tx.now }).where("id", "=", id).execute();
}

export async function setRunning(
  tx: Tx,
  id: DeploymentId,
  { workerGroupId, versionId }: { readonly workerGroupId: WorkerGroupId; readonly versionId: DeploymentVersionId },
): Promise<void> {
  await tx.db
    .updateTable("deployments")
    .set({ worker_group_id: workerGroupId, current_version_id: versionId })
    .where("id", "=", id)
    .execute();
}

/** Records a heartbeat; false if the user has no such deployment. */
export async function markHeartbeat(tx: Tx, id: DeploymentId, userId: UserId): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable("deployments")
    .set({ last_client_heartbeat_at: tx.now })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes a deployment with its versions and their code. */
export async function deleteDeployment(tx: Tx, id: DeploymentId): Promise<void> {
  await tx.db.deleteFrom("deployments").where("id", "=", id).execute();
}

/** The deployment whose code the workers of a group run. */
export async function findDeploymentOfGroup(db: Reader, groupId: WorkerGroupId): Promise<DeploymentId | undefined> {
  const row = await db
    .selectFrom("deployments")
    .select("id")
    .where("worker_group_id", "=", groupId)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** True if the instance is a worker of this deployment of this user. */
export async function isWorkerOf(
  db: Reader,
  { instanceId, userId, id }: { readonly instanceId: InstanceId; readonly userId: UserId; readonly id: DeploymentId },
): Promise<boolean> {
  const row = await db
    .selectFrom("deployments")
    .innerJoin("endpoint_workers", "endpoint_workers.worker_group_id", "deployments.worker_group_id")
    .select("deployments.id")
    .where("deployments.id", "=", id)
    .where("deployments.user_id", "=", userId)
    .where("endpoint_workers.instance_id", "=", instanceId)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Marks the present version of each deployment as healthy if a worker is ready with it; returns how many were marked.
 */
export async function markHealthyVersions(tx: Tx): Promise<number> {
  const { numUpdatedRows } = await tx.db
    .updateTable("deployments")
    .from("deployment_versions as version")
    .set((eb) => ({ last_healthy_version_id: eb.ref("deployments.current_version_id") }))
    .whereRef("version.id", "=", "deployments.current_version_id")
    .where(sql<boolean>`deployments.last_healthy_version_id is distinct from deployments.current_version_id`)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("endpoint_workers as worker")
          .select("worker.instance_id")
          .whereRef("worker.worker_group_id", "=", "deployments.worker_group_id")
          .whereRef("worker.generation", ">=", "version.worker_generation")
          .where("worker.ready_at", "is not", null)
          .where("worker.failure", "=", ""),
      ),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

function selectDeployments(db: Reader) {
  return db
    .selectFrom("deployments")
    .select([
      "id",
      "user_id",
      "api_key_id",
      "name",
      "tag",
      "endpoint_group_id",
      "worker_group_id",
      "search_params",
      "ttl_s",
      "last_client_heartbeat_at",
      "wanted_version_id",
      "current_version_id",
      "last_healthy_version_id",
    ]);
}

type DeploymentRow = Awaited<ReturnType<ReturnType<typeof selectDeployments>["executeTakeFirstOrThrow"]>>;

function toDeployment(row: DeploymentRow): Deployment {
  const versionId = (id: number | null) => (id === null ? undefined : asId<DeploymentVersionId>(id));
  return {
    id: row.id,
    userId: row.user_id,
    apiKeyId: row.api_key_id,
    name: row.name,
    tag: row.tag,
    endpointId: row.endpoint_group_id ?? undefined,
    workerGroupId: row.worker_group_id ?? undefined,
    searchParams: row.search_params,
    ttlS: row.ttl_s ?? undefined,
    heartbeatAt: row.last_client_heartbeat_at,
    wantedVersionId: versionId(row.wanted_version_id),
    currentVersionId: versionId(row.current_version_id),
    healthyVersionId: versionId(row.last_healthy_version_id),
  };
}
