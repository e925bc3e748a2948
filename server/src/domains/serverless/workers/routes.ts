import type { FastifyRequest } from "fastify";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { inSnapshot } from "../../../db/transaction.ts";
import { noSuchWorkerGroup, requireEndpoint } from "../endpoints/require-own.ts";
import { addErrorMessage } from "../routing/routes.ts";
import type { Routers } from "../routing/routers.ts";
import { toWorkerGroupId } from "../worker-groups/service.ts";
import { findWorkerGroup } from "../worker-groups/store.ts";
import {
  EndpointWorkersBody,
  WorkerGroupWorkersBody,
  WorkerGroupWorkersResponse,
  WorkerListResponse,
} from "./schema.ts";
import { listWorkerRecords } from "./service.ts";

const TAG = ["Serverless"];

/** Lists of workers with their status and performance. */
export function workerListRoutes(
  { app, database, clock }: HttpScope,
  { routers }: { readonly routers: Pick<Routers, "of"> },
): void {
  app.post(
    "/get_endpoint_workers/",
    {
      config: { access: { operation: "api.endpoint.workers", permission: "misc", isKeyInBody: true } },
      preSerialization: addErrorMessage,
      schema: {
        tags: TAG,
        summary: "List the workers of an endpoint group",
        body: EndpointWorkersBody,
        response: { 200: WorkerListResponse },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      return inSnapshot(database, async (db) => {
        const endpointId = await requireEndpoint(db, userId, { id: request.body.id, name: undefined });
        return listWorkerRecords(db, { endpointId, groupId: undefined, now: clock.now() }, routers);
      });
    },
  );

  const ofGroup = async (request: FastifyRequest, id: number) => {
    const { userId } = identityOf(request);
    return inSnapshot(database, async (db) => {
      const group = await findWorkerGroup(db, toWorkerGroupId(id), userId);
      if (group === undefined) throw noSuchWorkerGroup(id);
      const query = { endpointId: group.endpointGroupId, groupId: group.id, now: clock.now() };
      return listWorkerRecords(db, query, routers);
    });
  };

  app.post(
    "/get_workergroup_workers/",
    {
      config: { access: { operation: "api.workergroup.workers", permission: "misc", isKeyInBody: true } },
      preSerialization: addErrorMessage,
      schema: {
        tags: TAG,
        summary: "List the workers of a worker group",
        body: WorkerGroupWorkersBody,
        response: { 200: WorkerGroupWorkersResponse },
      },
    },
    async (request) => ({ workers: await ofGroup(request, request.body.id) }),
  );

  // The older name, whose answer is documented like that of an endpoint: a bare list.
  app.post(
    "/get_autogroup_workers/",
    {
      config: {
        access: { operation: "api.workergroup.workers", permission: "misc", isKeyInBody: true, isAlias: true },
      },
      preSerialization: addErrorMessage,
      schema: {
        tags: TAG,
        summary: "List the workers of a worker group",
        body: WorkerGroupWorkersBody,
        response: { 200: WorkerListResponse },
      },
    },
    (request) => ofGroup(request, request.body.id),
  );
}
