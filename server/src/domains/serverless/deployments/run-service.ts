import type { DeploymentVersionId, WorkerGroupId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Tx } from "../../../db/transaction.ts";
import { recordEvents } from "../autoscaling/event-store.ts";
import { findEndpointGroupForUpdate, notifyEndpoints, type EndpointGroup } from "../endpoints/store.ts";
import {
  createWorkerGroup,
  updateOwnWorkerGroup,
  type WorkerGroupBody,
  type WorkerGroupPorts,
} from "../worker-groups/service.ts";
import { findWorkerGroup, findWorkerGroupForUpdate, raiseGeneration } from "../worker-groups/store.ts";
import { DEFAULT_WORKER_GROUP, type WorkerGroup } from "../worker-groups/worker-group.ts";
import { setRunning } from "./deployment-store.ts";
import { launchArgsOf, type Container, type Deployment } from "./deployment.ts";
import { openContainer } from "./encrypted-container.ts";
import { findVersion, markUsed } from "./version-store.ts";

/**
 * Lets the deployment's workers run a version whose code is there: its worker group is created, or changed to match
 * the version. Workers of another version are updated one after the other, and fetch their code when they start
 * again. Nothing changes if they run the version already. The deployment is locked.
 */
export async function runVersion(
  tx: Tx,
  deployment: Deployment,
  versionId: DeploymentVersionId,
  ports: WorkerGroupPorts,
): Promise<WorkerGroupId | undefined> {
  const { userId, endpointId, searchParams } = deployment;
  const endpoint = endpointId === undefined ? undefined : await findEndpointGroupForUpdate(tx, endpointId, userId);
  const version = await findVersion(tx.db, versionId);
  invariant(version !== undefined, "a version that runs is kept");
  if (endpoint === undefined) return undefined;
  const container = openContainer(version, ports.encryption);
  const body = groupBodyOf({ searchParams, container, endpoint });
  const { id, generation } = await settleGroup(tx, { deployment, endpoint, body, versionId }, ports);
  if (deployment.currentVersionId !== versionId || version.workerGeneration === undefined) {
    await markUsed(tx, versionId, generation);
    await recordEvents(tx, [
      {
        endpointGroupId: endpoint.id,
        workerGroupId: id,
        kind: "change",
        level: 0,
        sentence: `Version ${versionId} of deployment ${deployment.name} is what workers run from now on.`,
      },
    ]);
  }
  await setRunning(tx, deployment.id, { workerGroupId: id, versionId });
  await notifyEndpoints(tx, [endpoint.id]);
  return id;
}

type Wanted = {
  readonly deployment: Deployment;
  readonly endpoint: EndpointGroup;
  readonly body: WorkerGroupBody;
  readonly versionId: DeploymentVersionId;
};

async function settleGroup(
  tx: Tx,
  { deployment, endpoint, body, versionId }: Wanted,
  ports: WorkerGroupPorts,
): Promise<Pick<WorkerGroup, "id" | "generation">> {
  const { userId, workerGroupId } = deployment;
  const found = workerGroupId === undefined ? undefined : await findWorkerGroupForUpdate(tx, workerGroupId, userId);
  if (found === undefined || found.endpointGroupId !== endpoint.id) {
    const made = { ...body, endpoint_id: endpoint.id };
    return { id: await createWorkerGroup(tx, { identity: deployment, body: made }, ports), generation: 1 };
  }
  await updateOwnWorkerGroup(tx, { identity: deployment, body, id: found.id }, ports);
  const generation = (await findWorkerGroup(tx.db, found.id, userId))?.generation ?? found.generation;
  const isToRaise = generation === found.generation && deployment.currentVersionId !== versionId;
  return { id: found.id, generation: isToRaise ? await raiseGeneration(tx, found.id) : generation };
}

/**
 * The settings of the deployment's workers as the body of a worker group, which has no limits beside the endpoint's.
 */
export function groupBodyOf({
  searchParams,
  container,
  endpoint,
}: {
  readonly searchParams: string;
  readonly container: Container;
  readonly endpoint: Pick<EndpointGroup, "maxWorkers" | "coldWorkers"> | undefined;
}): WorkerGroupBody {
  const { login } = container;
  return {
    search_params: searchParams,
    launch_args: launchArgsOf(container),
    docker_login_user: login?.user ?? "",
    docker_login_pass: login?.password ?? "",
    docker_login_repo: login?.registry ?? "",
    ...(endpoint === undefined
      ? {}
      : {
          max_workers: endpoint.maxWorkers,
          cold_workers: Math.min(endpoint.coldWorkers, endpoint.maxWorkers),
          test_workers: Math.min(DEFAULT_WORKER_GROUP.testWorkers, endpoint.maxWorkers),
        }),
  };
}
