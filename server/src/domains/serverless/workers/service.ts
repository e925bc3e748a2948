import type { EndpointGroupId, WorkerGroupId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { listInstanceFacts, listSites } from "../../rental/instances/for-serverless.ts";
import type { Routers } from "../routing/routers.ts";
import type { WorkerRecord } from "./schema.ts";
import { listRemovedWorkers } from "./list-store.ts";
import { removedRecord, workerRecord } from "./views.ts";
import { listWorkers } from "./store.ts";

/** The workers of an endpoint, or of one of its groups, in the order of their ids. */
export async function listWorkerRecords(
  db: Reader,
  {
    endpointId,
    groupId,
    now,
  }: {
    readonly endpointId: EndpointGroupId;
    /** The worker group; undefined lists those of all groups. */
    readonly groupId: WorkerGroupId | undefined;
    readonly now: Date;
  },
  routers: Pick<Routers, "of">,
): Promise<WorkerRecord[]> {
  const isWanted = (of: WorkerGroupId | undefined) => groupId === undefined || of === groupId;
  const workers = (await listWorkers(db, endpointId)).filter((worker) => isWanted(worker.workerGroupId));
  const ids = workers.map((worker) => worker.instanceId);
  const [instances, sites, removed] = [
    await listInstanceFacts(db, ids),
    await listSites(db, ids),
    await listRemovedWorkers(db, endpointId),
  ];
  const router = routers.of(endpointId);
  const records = workers.map((worker) => {
    const instance = instances.get(worker.instanceId);
    if (instance === undefined) return removedRecord({ id: worker.instanceId, createdAt: worker.createdAt });
    const given = router?.loadOf(worker.instanceId) ?? { load: 0, requestCount: 0 };
    return workerRecord({ worker, instance, site: sites.get(worker.instanceId), given, nowMs: now.getTime() });
  });
  const going = removed.filter((worker) => isWanted(worker.workerGroupId)).map(removedRecord);
  return [...records, ...going].toSorted((a, b) => a.id - b.id);
}
