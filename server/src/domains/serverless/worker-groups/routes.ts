import { refuseOperation, refuseParameters } from "../../../base/access.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { describeRemoval } from "../workers/rules/removal.ts";
import { CREATE_ENDPOINT, LIST_ENDPOINTS } from "../endpoints/routes.ts";
import { DeleteEndpointResponse } from "../endpoints/schema.ts";
import { openArgs } from "./encrypted-recipe.ts";
import { workerGroupRecord } from "../endpoints/views.ts";
import {
  CreateWorkerGroupResponse,
  ListWorkerGroupsResponse,
  UpdateWorkerGroupResponse,
  WorkerGroupBody,
  WorkerGroupPath,
} from "./schema.ts";
import { createNamedEndpoint, type NamedEndpointPorts } from "./named-endpoint-service.ts";
import { createWorkerGroup, deleteWorkerGroup, updateOwnWorkerGroup, type WorkerGroupPorts } from "./service.ts";
import { listWorkerGroupsOf } from "./store.ts";

const TAG = ["Serverless"];
/** Two published names of one collection: the serverless SDK calls the first, the command line the second. */
const PATHS = ["/api/v0/workergroups/", "/api/v0/autojobs/"] as const;

type RoutePorts = WorkerGroupPorts & Pick<NamedEndpointPorts, "random">;

export function workerGroupRoutes(scope: HttpScope, ports: RoutePorts): void {
  for (const path of PATHS) {
    readRoute(scope, path, ports.encryption);
    writeRoutes(scope, path, ports);
    deleteRoute(scope, path);
  }
}

const access = (operation: string, path: string) => ({
  access: { operation: `api.workergroup.${operation}`, permission: "misc" as const, isAlias: path !== PATHS[0] },
});

/**
 * A worker group rents machines, runs any image on them and gives it the account's variables, so changing one
 * requires the permissions for renting. Requests with a body may carry the key in it, as published examples do.
 */
const writeAccess = (operation: string, path: string) => ({
  access: { ...access(operation, path).access, alsoNeeds: "instance_write" as const, isKeyInBody: true as const },
});

function readRoute({ app, database }: HttpScope, path: string, encryption: Encryption): void {
  app.get(
    path,
    {
      config: access("list", path),
      schema: { tags: TAG, summary: "Show own worker groups", response: { 200: ListWorkerGroupsResponse } },
    },
    async (request) => {
      const identity = identityOf(request);
      const groups = await listWorkerGroupsOf(database.kysely, identity.userId);
      const mayReadKey = refuseOperation(identity, LIST_ENDPOINTS) === undefined;
      return {
        success: true as const,
        results: groups.map((group) =>
          workerGroupRecord(group, { launchArgs: openArgs(group, encryption) ?? "", mayReadKey }),
        ),
      };
    },
  );
}

function writeRoutes(scope: HttpScope, path: string, ports: RoutePorts): void {
  const { app } = scope;
  app.post(
    path,
    {
      config: writeAccess("create", path),
      schema: {
        tags: TAG,
        summary: "Create a worker group",
        body: WorkerGroupBody,
        response: { 200: CreateWorkerGroupResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { body } = request;
        const identity = identityOf(request);
        await createNamedEndpoint(
          tx,
          { userId: identity.userId, body },
          {
            random: ports.random,
            refusalOf: (asked) =>
              refuseOperation(identity, CREATE_ENDPOINT) ?? refuseParameters(identity, CREATE_ENDPOINT, [asked]),
          },
        );
        const id = await createWorkerGroup(tx, { identity, body }, ports);
        return { success: true as const, id, result: id };
      }),
  );

  app.put(
    `${path}:id/`,
    {
      config: writeAccess("update", path),
      schema: {
        tags: TAG,
        summary: "Change a worker group",
        params: WorkerGroupPath,
        body: WorkerGroupBody,
        response: { 200: UpdateWorkerGroupResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { id } = request.params;
        await updateOwnWorkerGroup(tx, { identity: identityOf(request), body: request.body, id }, ports);
        return { success: true as const };
      }),
  );
}

function deleteRoute(scope: HttpScope, path: string): void {
  scope.app.delete(
    `${path}:id/`,
    {
      config: writeAccess("delete", path),
      schema: {
        tags: TAG,
        summary: "Delete a worker group with its workers",
        params: WorkerGroupPath,
        response: { 200: DeleteEndpointResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { userId } = identityOf(request);
        const { deleted, failed } = await deleteWorkerGroup(tx, { userId, id: request.params.id });
        const msg = describeRemoval("workergroup", { deletedCount: deleted.length, failedCount: failed.length });
        return { success: true as const, deleted_workers: [...deleted], failed_workers: [...failed], msg };
      }),
  );
}
