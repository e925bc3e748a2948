import type { FastifyRequest } from "fastify";
import { invalid } from "../../../../base/errors.ts";
import { asParameters } from "../../../../base/access.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { BulkChangeAnswer, BulkDestroyBody, BulkStartBody, BulkUpdateBody } from "./bulk-change-schema.ts";
import { changeInBulk } from "./bulk-change-service.ts";
import { destroyInstance, startInstance, stopInstance } from "../service.ts";

const STARTED = "are starting";
const STOPPED = "are stopping";
const DESTROYED = "are being destroyed";

/** One change for many instances in one request. */
export function bulkChangeRoutes(scope: HttpScope): void {
  updateRoute(scope);
  startRoute(scope);
  destroyRoute(scope);
}

function callerOf(request: FastifyRequest) {
  const { userId, apiKeyId } = identityOf(request);
  return { userId, actor: `user:${userId}` as const, apiKeyId };
}

function updateRoute({ app, mutate }: HttpScope): void {
  app.put(
    "/api/v0/instances/",
    {
      config: { access: { operation: "api.instance.update_bulk", permission: "instance_write" } },
      schema: {
        summary: "Start or stop each of these instances",
        body: BulkUpdateBody,
        response: { 200: BulkChangeAnswer },
      },
    },
    (request) => {
      const { ids, state } = request.body;
      const how =
        state === "running" ? { change: startInstance, done: STARTED } : { change: stopInstance, done: STOPPED };
      return mutate(request, (tx) => changeInBulk(tx, { ...callerOf(request), ids, ...how }));
    },
  );
}

function startRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/instances/start/",
    {
      config: { access: { operation: "api.instance.start_bulk", permission: "instance_write" } },
      // Runs before the schema, so that missing ids get the message of the published contract.
      preValidation: async ({ body }) => requireIds(body),
      schema: {
        summary: "Start each of these instances",
        body: BulkStartBody,
        response: { 200: BulkChangeAnswer },
      },
    },
    (request) => {
      const how = { ids: request.body.IDs, change: startInstance, done: STARTED };
      return mutate(request, (tx) => changeInBulk(tx, { ...callerOf(request), ...how }));
    },
  );
}

function requireIds(body: unknown): void {
  const { IDs: ids } = asParameters(body);
  if (ids === undefined) throw invalid("IDs", "IDs is required: the ids of the instances to start", "missing_input");
  if (!Array.isArray(ids)) return;
  if (ids.length === 0) throw invalid("IDs", "IDs is empty", "empty_input");
  if (!ids.every((id) => Number.isInteger(id))) {
    throw invalid("IDs", "IDs must be ids of instances", "invalid_instance_id");
  }
}

function destroyRoute({ app, mutate }: HttpScope): void {
  app.delete(
    "/api/v0/instances/",
    {
      config: { access: { operation: "api.instance.destroy_bulk", permission: "instance_write" } },
      schema: {
        summary: "Destroy each of these instances",
        body: BulkDestroyBody,
        response: { 200: BulkChangeAnswer },
      },
    },
    (request) => {
      const how = { ids: request.body.instance_ids, change: destroyInstance, done: DESTROYED };
      return mutate(request, (tx) => changeInBulk(tx, { ...callerOf(request), ...how }));
    },
  );
}
