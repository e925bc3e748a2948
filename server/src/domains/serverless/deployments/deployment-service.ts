import { notFound, type AppError } from "../../../base/errors.ts";
import {
  asId,
  MAX_ID,
  type DeploymentId,
  type EndpointGroupId,
  type UserId,
  type WorkerGroupId,
} from "../../../base/ids.ts";
import type { Identity } from "../../../base/identity.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Tx } from "../../../db/transaction.ts";
import { requireRoom } from "../../people/accounts/index.ts";
import { requireOwnSpending } from "../../rental/instances/for-serverless.ts";
import { changeParameters } from "../endpoints/rules/parameters.ts";
import {
  changeEndpointGroup,
  createEndpointGroup,
  deleteEndpointGroup,
  type RandomBytes,
} from "../endpoints/service.ts";
import { findEndpointGroup, findEndpointGroupForUpdate } from "../endpoints/store.ts";
import { rehearseWorkerGroup, type WorkerGroupPorts } from "../worker-groups/service.ts";
import {
  claimDeployment,
  countDeployments,
  deleteDeployment,
  findDeploymentForUpdate,
  listNamedForUpdate,
  markUpdated,
  updateDeployment,
} from "./deployment-store.ts";
import {
  actionOf,
  CODE_BYTES_MAX,
  endpointNameOf,
  isSameVersion,
  noRoomForCode,
  readDeployment,
  type Asked,
  type Code,
  type DeployAction,
  type Deployment,
  type DeploymentRequest,
} from "./deployment.ts";
import { groupBodyOf, runVersion } from "./run-service.ts";
import { openEnv, openLogin, encryptContainer } from "./encrypted-container.ts";
import {
  deleteVersions,
  findCompleteFile,
  findVersion,
  insertVersion,
  listVersions,
  setCodeSize,
  sumCodeBytesOf,
  updateLabel,
  type StoredVersion,
} from "./version-store.ts";

export type DeploymentPorts = WorkerGroupPorts & {
  readonly random: RandomBytes;
};

export type Deployed = {
  readonly action: DeployAction;
  readonly deploymentId: DeploymentId;
  readonly endpointId: EndpointGroupId;
  /** The worker group exists once the first code is there: no worker could run before. */
  readonly workerGroupId: WorkerGroupId | undefined;
  /** The version whose code is still missing; undefined when the code is there. */
  readonly awaited: StoredVersion | undefined;
  readonly evicted: readonly StoredVersion[];
};

const VERSIONS_MAX = 10;
/** The caller, whose key pays for the workers of a deployment that it makes. */
type Deployer = Pick<Identity, "userId" | "apiKeyId">;

/** The limit of endpoints, as each deployment makes one. A deployment stays when its endpoint is deleted. */
const DEPLOYMENTS_MAX = 500;

/**
 * Creates a deployment, or changes it to match the request. Changes that need the code wait until all of it is there:
 * until then workers run their earlier version.
 */
export async function deploy(
  tx: Tx,
  { identity, request }: { readonly identity: Deployer; readonly request: DeploymentRequest },
  ports: DeploymentPorts,
): Promise<Deployed> {
  const asked = readDeployment(request);
  const { userId, apiKeyId } = identity;
  const { name, tag } = asked;
  const { deployment, isNew } = await claimDeployment(tx, { userId, apiKeyId, name, tag });
  if (isNew) {
    const count = async () => (await countDeployments(tx, userId)) - 1; // Without the new one.
    await requireRoom(tx, userId, { count, max: DEPLOYMENTS_MAX, field: "name", what: "deployments" });
  }
  await requireOwnDeployment(tx, identity, deployment);
  const endpoint = await settleEndpoint(tx, { identity, deployment, asked }, ports);
  const wanted = await settleVersion(tx, { deployment, asked }, ports);
  const changed = {
    ...deployment,
    apiKeyId,
    endpointId: endpoint.id,
    searchParams: asked.searchParams,
    ttlS: asked.ttlS,
    wantedVersionId: wanted.version.id,
  };
  await updateDeployment(tx, deployment.id, changed);
  const action = actionOf({
    isNew: isNew || endpoint.isNew,
    isOtherVersion: wanted.isNew,
    isOtherOtherwise:
      endpoint.isOther || asked.searchParams !== deployment.searchParams || asked.ttlS !== deployment.ttlS,
  });
  if (action !== "exists") await markUpdated(tx, deployment.id);
  const running = wanted.version.isComplete ? wanted.version.id : deployment.currentVersionId;
  const workerGroupId = running === undefined ? undefined : await runVersion(tx, changed, running, ports);
  return {
    action,
    deploymentId: deployment.id,
    endpointId: endpoint.id,
    workerGroupId,
    awaited: wanted.version.isComplete ? undefined : wanted.version,
    evicted: wanted.isNew ? await evictVersions(tx, changed, wanted.version.isComplete) : [],
  };
}

/** The deployment's endpoint with the sent parameters; a new one where its owner deleted it. */
async function settleEndpoint(
  tx: Tx,
  {
    identity,
    deployment,
    asked,
  }: { readonly identity: Deployer; readonly deployment: Deployment; readonly asked: Asked },
  { random }: Pick<DeploymentPorts, "random">,
): Promise<{ readonly id: EndpointGroupId; readonly isNew: boolean; readonly isOther: boolean }> {
  const { userId, endpointId: id } = deployment;
  const { scaling } = asked;
  const endpoint = id === undefined ? undefined : await findEndpointGroupForUpdate(tx, id, userId);
  if (endpoint === undefined) {
    const request = { ...scaling, endpoint_name: scaling.endpoint_name ?? endpointNameOf(asked) };
    const made = await createEndpointGroup(tx, { userId, request, random });
    return { id: made, isNew: true, isOther: true };
  }
  const { id: _id, userId: _userId, apiKey: _apiKey, createdAt: _createdAt, ...parameters } = endpoint;
  const isOther = JSON.stringify(changeParameters(endpoint, scaling)) !== JSON.stringify(inOrder(parameters));
  if (isOther) await changeEndpointGroup(tx, { identity, id: endpoint.id, request: scaling });
  return { id: endpoint.id, isNew: false, isOther };
}

/** The same members in the order of `changeParameters`, so that two of them compare equal. */
function inOrder(parameters: Parameters<typeof changeParameters>[0]) {
  return changeParameters(parameters, {});
}

/** The requested version: the last requested one if it is the same, otherwise a new one. */
async function settleVersion(
  tx: Tx,
  { deployment, asked }: { readonly deployment: Deployment; readonly asked: Asked },
  ports: DeploymentPorts,
): Promise<{ readonly version: StoredVersion; readonly isNew: boolean }> {
  const { container, label } = asked;
  const { wantedVersionId } = deployment;
  const last = wantedVersionId === undefined ? undefined : await findVersion(tx.db, wantedVersionId);
  const isSame =
    last !== undefined &&
    isSameVersion(
      { ...last, env: openEnv(last, ports.encryption), login: openLogin(last, ports.encryption) },
      asked.code,
      container,
    );
  if (!isSame || asked.searchParams !== deployment.searchParams) {
    const body = groupBodyOf({ searchParams: asked.searchParams, container, endpoint: undefined });
    await rehearseWorkerGroup(tx, { identity: deployment, body }, ports);
  }
  const sizeBytes = await settleSize(tx, { deployment, code: asked.code, last: isSame ? last : undefined });
  if (isSame) {
    if (label !== "" && label !== last.label) await updateLabel(tx, last.id, label);
    return { version: { ...last, sizeBytes }, isNew: false };
  }
  const encrypted = encryptContainer(container, { deploymentId: deployment.id }, ports.encryption);
  const { fileHash } = asked.code;
  const made = { deploymentId: deployment.id, fileHash, sizeBytes, ...encrypted, label };
  const id = await insertVersion(tx, made);
  const version = await findVersion(tx.db, id);
  invariant(version !== undefined, "a version is found after it was made");
  return { version, isNew: true };
}

/** The size of the code: the real one once the code is there, until then the last announced one. */
async function settleSize(
  tx: Tx,
  {
    deployment,
    code,
    last,
  }: { readonly deployment: Deployment; readonly code: Code; readonly last: StoredVersion | undefined },
): Promise<number> {
  const named = { deploymentId: deployment.id, fileHash: code.fileHash };
  const there = await findCompleteFile(tx.db, named);
  const sizeBytes = there?.sizeBytes ?? code.sizeBytes;
  const addedBytes = sizeBytes - (last?.sizeBytes ?? 0);
  if (addedBytes > 0 && (await sumCodeBytesOf(tx.db, deployment.userId)) + addedBytes > CODE_BYTES_MAX) {
    throw noRoomForCode();
  }
  await setCodeSize(tx, { ...named, sizeBytes });
  return sizeBytes;
}

/** Deletes the oldest versions beyond the newest ten; the running one and the last healthy one stay. */
async function evictVersions(
  tx: Tx,
  { id, wantedVersionId, currentVersionId, healthyVersionId }: Deployment,
  isWantedRunning: boolean,
): Promise<readonly StoredVersion[]> {
  const kept = [wantedVersionId, healthyVersionId, isWantedRunning ? wantedVersionId : currentVersionId];
  const evicted = (await listVersions(tx.db, id)).slice(VERSIONS_MAX).filter((version) => !kept.includes(version.id));
  await deleteVersions(
    tx,
    id,
    evicted.map((version) => version.id),
  );
  return evicted;
}

/** Deletes a deployment with its code and its endpoint; workers that cannot be removed yet stay tracked. */
export async function removeDeployment(tx: Tx, deployment: Deployment): Promise<void> {
  const { userId, endpointId } = deployment;
  const endpoint = endpointId === undefined ? undefined : await findEndpointGroup(tx.db, endpointId, userId);
  if (endpoint !== undefined) await deleteEndpointGroup(tx, { userId, id: endpoint.id });
  await deleteDeployment(tx, deployment.id);
}

export async function removeOwnDeployment(
  tx: Tx,
  { userId, id }: { readonly userId: UserId; readonly id: number },
): Promise<void> {
  await removeDeployment(tx, await requireForUpdate(tx, { userId, id }));
}

/** Deletes deployments of this name, of one tag or of all; returns how many there were. */
export async function removeNamedDeployments(
  tx: Tx,
  named: { readonly userId: UserId; readonly name: string; readonly tag: string | undefined },
): Promise<number> {
  const deployments = await listNamedForUpdate(tx, named);
  for (const deployment of deployments) await removeDeployment(tx, deployment);
  return deployments.length;
}

/** Starts or stops the deployment's endpoint; returns that. */
export async function setDeploymentState(
  tx: Tx,
  { identity, id, state }: { readonly identity: Deployer; readonly id: number; readonly state: "active" | "stopped" },
): Promise<EndpointGroupId> {
  const { userId } = identity;
  const deployment = await requireForUpdate(tx, { userId, id });
  if (state === "active") await requireOwnDeployment(tx, identity, deployment);
  const { endpointId } = deployment;
  const endpoint = endpointId === undefined ? undefined : await findEndpointGroup(tx.db, endpointId, userId);
  if (endpoint === undefined) {
    throw notFound("no_such_endpoint", "The endpoint of this deployment was deleted; deploy it again to have another.");
  }
  await changeEndpointGroup(tx, { identity: deployment, id: endpoint.id, request: { endpoint_state: state } });
  return endpoint.id;
}

/** Refuses a key with a spending cap, as the deployment's own key would pay for the change. */
async function requireOwnDeployment(
  tx: Tx,
  identity: Deployer,
  { id, apiKeyId }: Pick<Deployment, "id" | "apiKeyId">,
): Promise<void> {
  await requireOwnSpending(tx.db, identity, { payers: [apiKeyId], what: `Deployment ${id}` });
}

async function requireForUpdate(
  tx: Tx,
  { userId, id }: { readonly userId: UserId; readonly id: number },
): Promise<Deployment> {
  const deployment = await findDeploymentForUpdate(tx, toDeploymentId(id), userId);
  if (deployment === undefined) throw noSuchDeployment();
  return deployment;
}

export function noSuchDeployment(): AppError {
  return notFound("no_such_deployment", "There is no such deployment of yours.");
}

/** The number as an id; one outside the range of ids finds nothing, like any unknown id. */
export function toDeploymentId(id: number): DeploymentId {
  return asId<DeploymentId>(id >= 1 && id <= MAX_ID ? id : 0);
}
