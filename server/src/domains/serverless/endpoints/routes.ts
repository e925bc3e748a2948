import type { RouteAccess } from "../../../base/access.ts";
import { notFound } from "../../../base/errors.ts";
import { asId, MAX_ID, type EndpointGroupId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { describeRemoval } from "../workers/rules/removal.ts";
import {
  CreateEndpointResponse,
  DeleteEndpointResponse,
  EndpointBody,
  EndpointPath,
  ListEndpointsResponse,
  ShowEndpointResponse,
  UpdateEndpointResponse,
} from "./schema.ts";
import { changeEndpointGroup, createEndpointGroup, deleteEndpointGroup, type RandomBytes } from "./service.ts";
import { deleteEmptyEndpointGroups, findEndpointGroup, listEndpointGroups } from "./store.ts";
import { endpointRecord } from "./views.ts";

const TAG = ["Serverless"];

/** An endpoint rents and destroys machines, so changing one requires the permissions for renting. */
const changing = (operation: "create" | "update" | "delete") => ({
  access: {
    operation: `api.endpoint.${operation}`,
    permission: "misc" as const,
    alsoNeeds: "instance_write" as const,
    isKeyInBody: true as const,
  },
});

export const CREATE_ENDPOINT: RouteAccess = changing("create").access;

/** Lists of endpoints hold their keys: who may call this may read them. */
export const LIST_ENDPOINTS = { operation: "api.endpoint.list", permission: "misc" } as const satisfies RouteAccess;

export type EndpointPorts = {
  readonly random: RandomBytes;
  /** Resolves when all servers route by the stored state of the endpoint. */
  readonly agreeOn: (id: EndpointGroupId) => Promise<void>;
};

export function endpointRoutes(scope: HttpScope, ports: EndpointPorts): void {
  writeRoutes(scope, ports);
  const { app, database } = scope;

  app.get(
    "/api/v0/endptjobs/",
    {
      config: { access: LIST_ENDPOINTS },
      schema: { tags: TAG, summary: "Show own endpoint groups", response: { 200: ListEndpointsResponse } },
    },
    async (request) => {
      const groups = await listEndpointGroups(database.kysely, identityOf(request).userId);
      return { success: true as const, results: groups.map(endpointRecord) };
    },
  );

  app.get(
    "/api/v0/endptjobs/:id/",
    {
      config: { access: { operation: "api.endpoint.show", permission: "misc" } },
      schema: {
        tags: TAG,
        summary: "Show an endpoint group",
        params: EndpointPath,
        response: { 200: ShowEndpointResponse },
      },
    },
    async (request) => {
      const id = toGroupId(request.params.id);
      const group = await findEndpointGroup(database.kysely, id, identityOf(request).userId);
      if (group === undefined) throw notFound("no_such_endpoint", "Endpointgroup not found for user");
      return { success: true as const, result: endpointRecord(group) };
    },
  );
}

function writeRoutes(scope: HttpScope, { random, agreeOn }: EndpointPorts): void {
  const { app } = scope;
  app.post(
    "/api/v0/endptjobs/",
    {
      config: changing("create"),
      schema: {
        tags: TAG,
        summary: "Create an endpoint group",
        body: EndpointBody,
        response: { 200: CreateEndpointResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { userId } = identityOf(request);
        const result = await createEndpointGroup(tx, { userId, request: request.body, random });
        return { success: true as const, result };
      }),
  );

  app.put(
    "/api/v0/endptjobs/:id/",
    {
      config: changing("update"),
      schema: {
        tags: TAG,
        summary: "Change an endpoint group",
        params: EndpointPath,
        body: EndpointBody,
        response: { 200: UpdateEndpointResponse },
      },
    },
    async (request) => {
      const id = toGroupId(request.params.id);
      const answer = await scope.mutate(request, async (tx) => {
        await changeEndpointGroup(tx, { identity: identityOf(request), id, request: request.body });
        return { success: true as const };
      });
      await agreeOn(id);
      return answer;
    },
  );

  app.delete(
    "/api/v0/endptjobs/:id/",
    {
      config: changing("delete"),
      schema: {
        tags: TAG,
        summary: "Delete an endpoint group with its workers",
        params: EndpointPath,
        response: { 200: DeleteEndpointResponse },
      },
    },
    async (request) => {
      const id = toGroupId(request.params.id);
      const answer = await scope.mutate(request, async (tx) => {
        const group = { userId: identityOf(request).userId, id };
        const { deleted, failed } = await deleteEndpointGroup(tx, group);
        const msg = describeRemoval("endpoint job", { deletedCount: deleted.length, failedCount: failed.length });
        return { success: true as const, deleted_workers: [...deleted], failed_workers: [...failed], msg };
      });
      await agreeOn(id);
      // The workers' machines are free again. A loop deletes the rest if this fails.
      await withTransaction(scope.database, scope.clock, deleteEmptyEndpointGroups).catch(() => undefined);
      return answer;
    },
  );
}

/** The number as an id; one outside the range of ids finds nothing, like any unknown id. */
function toGroupId(id: number): EndpointGroupId {
  return asId<EndpointGroupId>(id >= 1 && id <= MAX_ID ? id : 0);
}
