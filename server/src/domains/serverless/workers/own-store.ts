import type { EndpointGroupId, InstanceId, UserId, WorkerGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The live endpoints and worker groups of a user, and all instances that work for them or are being removed. */
export type OwnWorkers = {
  readonly endpointIds: readonly EndpointGroupId[];
  readonly workerGroupIds: readonly WorkerGroupId[];
  readonly workers: readonly {
    readonly instanceId: InstanceId;
    readonly endpointId: EndpointGroupId;
    /** Workers from before there were worker groups have none. */
    readonly workerGroupId: WorkerGroupId | undefined;
  }[];
};

/** Lists in the order of ids; consistent if `db` is a snapshot. */
export async function listOwnWorkers(db: Reader, userId: UserId): Promise<OwnWorkers> {
  const endpoints = db
    .selectFrom("endpoint_groups")
    .select("id")
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .orderBy("id");
  const endpointIds = (await endpoints.execute()).map(({ id }) => id);
  const groups = await db
    .selectFrom("worker_groups")
    .select("id")
    .where("endpoint_group_id", "in", endpoints.clearOrderBy())
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  const workers = await db
    .selectFrom("endpoint_workers")
    .select(["instance_id", "endpoint_group_id", "worker_group_id"])
    .where("endpoint_group_id", "in", endpoints.clearOrderBy())
    .orderBy("instance_id")
    .execute();
  return {
    endpointIds,
    workerGroupIds: groups.map(({ id }) => id),
    workers: workers.map((row) => ({
      instanceId: row.instance_id,
      endpointId: row.endpoint_group_id,
      workerGroupId: row.worker_group_id ?? undefined,
    })),
  };
}
