import type { FastifyRequest } from "fastify";
import { forbidden } from "../../../base/errors.ts";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Identity } from "../../../base/identity.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader } from "../../../db/transaction.ts";
import { originOf } from "../../../http/origin.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import {
  deploy,
  noSuchDeployment,
  removeNamedDeployments,
  removeOwnDeployment,
  setDeploymentState,
  toDeploymentId,
  type Deployed,
  type DeploymentPorts,
} from "./deployment-service.ts";
import { findDeployment, isWorkerOf, markHeartbeat } from "./deployment-store.ts";
import type { Deployment } from "./deployment.ts";
import { fileAddresses, type FileAddresses } from "./file-address.ts";
import { fileRoutes } from "./file-routes.ts";
import {
  DeleteNamedBody,
  DeleteNamedResponse,
  DeploymentBody,
  DeploymentPath,
  DeployResponse,
  DoneResponse,
  HeartbeatResponse,
  DownloadResponse,
  ListDeploymentsResponse,
  ShowDeploymentResponse,
  StateResponse,
  VersionsResponse,
} from "./schema.ts";
import type { EndpointPorts } from "../endpoints/routes.ts";
import { openEnv } from "./encrypted-container.ts";
import { listShownDeployments, type ShownDeployment } from "./shown-store.ts";
import { noSuchFile } from "./upload-service.ts";
import { listVersions, type StoredVersion } from "./version-store.ts";
import { deploymentRecord, evictedRecord, versionRecord } from "./views.ts";

const TAG = ["Deployments"];

type Ports = DeploymentPorts & Pick<EndpointPorts, "agreeOn"> & { readonly secret: Buffer };
type Parts = DeploymentPorts & { readonly addresses: FileAddresses };

/** Deployments: code that workers of an endpoint run. */
export function deploymentRoutes(scope: HttpScope, { secret, agreeOn, ...ports }: Ports): void {
  const parts = { ...ports, addresses: fileAddresses(secret) };
  readRoutes(scope, ports.encryption);
  deployRoute(scope, parts);
  deleteRoutes(scope);
  stateRoutes(scope, agreeOn);
  downloadRoute(scope, parts);
  fileRoutes(scope, parts);
}

function readRoutes({ app, database }: HttpScope, encryption: Encryption): void {
  app.get(
    "/api/v0/deployments/",
    {
      config: { access: { operation: "api.deployment.list", permission: "instance_read" } },
      schema: { tags: TAG, summary: "Show own deployments", response: { 200: ListDeploymentsResponse } },
    },
    async (request) => {
      const shown = await listShownDeployments(database.kysely, identityOf(request).userId, "all");
      return { success: true as const, deployments: shown.map((one) => showDeployment(one, encryption)) };
    },
  );

  app.get(
    "/api/v0/deployment/:id/",
    {
      config: { access: { operation: "api.deployment.show", permission: "instance_read" } },
      schema: {
        tags: TAG,
        summary: "Show a deployment",
        params: DeploymentPath,
        response: { 200: ShowDeploymentResponse },
      },
    },
    async (request) => {
      const id = toDeploymentId(request.params.id);
      const [shown] = await listShownDeployments(database.kysely, identityOf(request).userId, id);
      if (shown === undefined) throw noSuchDeployment();
      return { success: true as const, deployment: showDeployment(shown, encryption) };
    },
  );

  app.get(
    "/api/v0/deployment/:id/versions/",
    {
      config: { access: { operation: "api.deployment.versions", permission: "instance_read" } },
      schema: {
        tags: TAG,
        summary: "Show the versions of a deployment, newest first",
        params: DeploymentPath,
        response: { 200: VersionsResponse },
      },
    },
    async (request) => {
      const db = database.kysely;
      const deployment = await requireDeployment(db, request.params.id, identityOf(request));
      const versions = await listVersions(db, deployment.id);
      const show = (version: StoredVersion) =>
        versionRecord({ version, env: openEnv(version, encryption) ?? "" }, deployment);
      return { success: true as const, versions: versions.map(show) };
    },
  );
}

/** The record of a deployment; variables that can no longer be decrypted are shown as an empty text. */
function showDeployment(shown: ShownDeployment, encryption: Encryption) {
  const env = openEnv({ encryptedEnv: shown.sealed_env, deploymentId: shown.id }, encryption);
  return deploymentRecord(shown, env ?? "");
}

function deployRoute(scope: HttpScope, parts: Parts): void {
  scope.app.put(
    "/api/v0/deployments/",
    {
      config: { access: { operation: "api.deployment.deploy", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Make a deployment, or make it what is said here",
        body: DeploymentBody,
        response: { 200: DeployResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const deployed = await deploy(tx, { identity: identityOf(request), request: request.body }, parts);
        return answerTo(deployed, (version) =>
          fileUrl(request, version, parts.addresses.make("upload", version, tx.now)),
        );
      }),
  );
}

type VersionName = NonNullable<Deployed["awaited"]>;

function answerTo(
  { action, deploymentId, endpointId, workerGroupId, awaited, evicted }: Deployed,
  uploadUrl: (version: VersionName) => string,
) {
  return {
    success: true as const,
    action,
    deployment_id: deploymentId,
    endpoint_id: endpointId,
    ...(workerGroupId === undefined ? {} : { workergroup_id: workerGroupId }),
    ...(awaited === undefined
      ? {}
      : {
          upload_url: uploadUrl(awaited),
          upload_fields: { key: `deployments/${deploymentId}/${awaited.fileHash}.tar.gz` },
        }),
    ...(evicted.length === 0 ? {} : { evicted_versions: evicted.map(evictedRecord) }),
  };
}

function fileUrl(request: FastifyRequest, { deploymentId }: Pick<VersionName, "deploymentId">, token: string): string {
  return `${originOf(request)}/api/v0/deployment/${deploymentId}/files/${token}/`;
}

function deleteRoutes(scope: HttpScope): void {
  scope.app.delete(
    "/api/v0/deployments/",
    {
      config: { access: { operation: "api.deployment.delete_named", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Delete deployments by name, with their endpoints and workers",
        body: DeleteNamedBody,
        response: { 200: DeleteNamedResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { name, tag } = request.body;
        const count = await removeNamedDeployments(tx, { userId: identityOf(request).userId, name, tag });
        return { success: true as const, count };
      }),
  );

  scope.app.delete(
    "/api/v0/deployment/:id/",
    {
      config: { access: { operation: "api.deployment.delete", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Delete a deployment with its endpoint and workers",
        params: DeploymentPath,
        response: { 200: DoneResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        await removeOwnDeployment(tx, { userId: identityOf(request).userId, id: request.params.id });
        return { success: true as const };
      }),
  );
}

function stateRoutes(scope: HttpScope, agreeOn: EndpointPorts["agreeOn"]): void {
  for (const [verb, state] of [
    ["start", "active"],
    ["stop", "stopped"],
  ] as const) {
    scope.app.post(
      `/api/v0/deployment/:id/${verb}/`,
      {
        config: { access: { operation: `api.deployment.${verb}`, permission: "instance_write" } },
        schema: {
          tags: TAG,
          summary: verb === "start" ? "Start a deployment's endpoint" : "Stop a deployment's endpoint",
          params: DeploymentPath,
          response: { 200: StateResponse },
        },
      },
      async (request) => {
        const changed: EndpointGroupId[] = [];
        const answer = await scope.mutate(request, async (tx) => {
          changed.push(await setDeploymentState(tx, { identity: identityOf(request), id: request.params.id, state }));
          return { success: true as const, endpoint_state: state };
        });
        for (const id of changed) await agreeOn(id);
        return answer;
      },
    );
  }

  scope.app.post(
    "/api/v0/deployment/:id/heartbeat/",
    {
      config: { access: { operation: "api.deployment.heartbeat", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Say that the client of a deployment is there",
        params: DeploymentPath,
        response: { 200: HeartbeatResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const id = toDeploymentId(request.params.id);
        const isKnown = await markHeartbeat(tx, id, identityOf(request).userId);
        if (!isKnown) throw noSuchDeployment();
        return { success: true as const, deployment_id: id };
      }),
  );
}

function downloadRoute({ app, database, clock }: HttpScope, { addresses }: Parts): void {
  app.get(
    "/api/v0/deployment/:id/download_url/",
    {
      config: { access: { operation: "api.deployment.download", permission: "instance_read" } },
      schema: {
        tags: TAG,
        summary: "Get an address of the code that workers run",
        params: DeploymentPath,
        response: { 200: DownloadResponse },
      },
    },
    async (request) => {
      const db = database.kysely;
      const identity = identityOf(request);
      await refuseForeignWorker(db, request.params.id, identity);
      const { id: deploymentId, currentVersionId } = await requireDeployment(db, request.params.id, identity);
      if (currentVersionId === undefined) throw noSuchFile();
      const version = { id: currentVersionId, deploymentId };
      const url = fileUrl(request, version, addresses.make("download", version, clock.now()));
      return { success: true as const, download_url: url };
    },
  );
}

/** Refuses the key of an instance for any deployment but the one that the instance works for. */
async function refuseForeignWorker(db: Reader, id: number, { instanceId, userId }: Identity): Promise<void> {
  if (instanceId === undefined || (await isWorkerOf(db, { instanceId, userId, id: toDeploymentId(id) }))) return;
  throw forbidden("This key belongs to one instance, which does not work for this deployment.");
}

async function requireDeployment(db: Reader, id: number, { userId }: Identity): Promise<Deployment> {
  const deployment = await findDeployment(db, toDeploymentId(id), userId);
  if (deployment === undefined) throw noSuchDeployment();
  return deployment;
}
