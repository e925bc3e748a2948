import type { EndpointGroupId, InstanceId, WorkerGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Workers that are gone for their endpoint, and whose instances still have to be destroyed, in id order. */
export async function listRemovedWorkers(
  db: Reader,
  endpointGroupId: EndpointGroupId,
): Promise<
  readonly {
    readonly id: InstanceId;
    readonly createdAt: Date;
    readonly workerGroupId: WorkerGroupId | undefined;
  }[]
> {
  const rows = await db
    .selectFrom("endpoint_workers")
    .select(["instance_id", "created_at", "worker_group_id"])
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("state", "=", "removing")
    .orderBy("instance_id")
    .execute();
  return rows.map((row) => ({
    id: row.instance_id,
    createdAt: row.created_at,
    workerGroupId: row.worker_group_id ?? undefined,
  }));
}
