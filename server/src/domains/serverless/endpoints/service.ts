import { AppError, invalid } from "../../../base/errors.ts";
import type { Identity } from "../../../base/identity.ts";
import type { EndpointGroupId, InstanceId, UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { lockUser, requireAccount } from "../../people/accounts/index.ts";
import { lockMachinesOf } from "../../rental/instances/index.ts";
import { requireOwnSpending } from "../../rental/instances/for-serverless.ts";
import { changeParameters, planParameters, type ParameterRequest } from "./rules/parameters.ts";
import { removeWorker } from "../workers/removal-service.ts";
import {
  countEndpointGroups,
  countWorkers,
  findEndpointGroupForUpdate,
  insertEndpointGroup,
  insertWorker,
  listWorkersForUpdate,
  lockEndpointGroup,
  markEndpointGroupDeleted,
  notifyEndpoints,
  updateEndpointGroup,
} from "./store.ts";
import { listWorkerGroups } from "../worker-groups/store.ts";

/** Unpredictable bytes: `crypto.randomBytes` outside of tests. */
export type RandomBytes = (byteCount: number) => Buffer;

const SECRET_BYTES = 32;
/** The autoscaler looks at each of them again and again, so their number is limited. */
const ENDPOINTS_MAX = 500;

/**
 * Creates a group with a routing key of its own. Names may repeat: all fields have defaults, so creating twice without
 * any is legitimate, and a route is asked for with the group's own key, which tells groups of one name apart.
 */
export async function createEndpointGroup(
  tx: Tx,
  { userId, request, random }: { userId: UserId; request: ParameterRequest; random: RandomBytes },
): Promise<EndpointGroupId> {
  const parameters = planParameters(request);
  await requireAccount(tx, userId);
  await lockUser(tx, userId);
  if ((await countEndpointGroups(tx.db, userId)) >= ENDPOINTS_MAX) {
    throw new AppError("invalid", "too_many_endpoints", `An account has at most ${ENDPOINTS_MAX} endpoints.`);
  }
  const apiKey = `berth_endpoint_${random(SECRET_BYTES).toString("base64url")}`;
  return insertEndpointGroup(tx, { userId, apiKey, parameters });
}

/** Changes the parameters that were sent; another user's group is a 400, as in the published API. */
export async function changeEndpointGroup(
  tx: Tx,
  {
    identity,
    id,
    request,
  }: { identity: Pick<Identity, "userId" | "apiKeyId">; id: EndpointGroupId; request: ParameterRequest },
): Promise<void> {
  const group = await findEndpointGroupForUpdate(tx, id, identity.userId);
  if (group === undefined) throw invalid("id", "Endpointgroup not found for user");
  const payers = (await listWorkerGroups(tx.db, id)).map(({ apiKeyId }) => apiKeyId);
  await requireOwnSpending(tx.db, identity, { payers, what: `Endpoint group ${id}` });
  await updateEndpointGroup(tx, id, changeParameters(group, request));
  await notifyEndpoints(tx, [id]);
}

/**
 * Deletes a group with its workers. The group is gone for its owner at once; a worker that could not be removed stays
 * tracked with it, and `retryWorkerRemoval` tries again until it is gone. The row is deleted later, together with a
 * week of history, as freeing the machines should not wait for that.
 */
export async function deleteEndpointGroup(
  tx: Tx,
  { userId, id }: { userId: UserId; id: EndpointGroupId },
): Promise<{ readonly deleted: readonly InstanceId[]; readonly failed: readonly InstanceId[] }> {
  const group = await findEndpointGroupForUpdate(tx, id, userId);
  if (group === undefined) throw invalid("id", "Routegroup not found for user");
  await markEndpointGroupDeleted(tx, id);
  await notifyEndpoints(tx, [id]);
  const deleted: InstanceId[] = [];
  const failed: InstanceId[] = [];
  const workers = await listWorkersForUpdate(tx, id);
  await lockMachinesOf(
    tx,
    workers.map((worker) => worker.instanceId),
  );
  for (const worker of workers) {
    const outcome = await removeWorker(tx, worker, { actor: `user:${userId}` });
    (outcome === "removed" ? deleted : failed).push(worker.instanceId);
  }
  return { deleted, failed };
}

/**
 * Makes an instance a worker of a live group. Returns `full` at `max_workers`, workers being removed included, and
 * `gone` when the group was deleted; then nothing is written. An instance belongs to one group at most; a second one
 * throws.
 */
export async function addWorker(
  tx: Tx,
  groupId: EndpointGroupId,
  instanceId: InstanceId,
): Promise<"added" | "full" | "gone"> {
  const group = await lockEndpointGroup(tx, groupId);
  if (group === undefined) return "gone";
  if ((await countWorkers(tx.db, groupId)) >= group.maxWorkers) return "full";
  await insertWorker(tx, groupId, instanceId);
  return "added";
}
