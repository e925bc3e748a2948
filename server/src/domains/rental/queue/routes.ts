import { identityOf, type HttpScope } from "../../../http/server.ts";
import { CreateBody, Created, Done, IdParams, Listing, Shown } from "./schema.ts";
import {
  cancelStandingRequest,
  createStandingRequest,
  listStandingRequestRecords,
  showStandingRequest,
  type QueuePorts,
} from "./service.ts";

const TAGS = ["Standing requests"];

/** Routes of standing requests, which rent as soon as an offer matches (docs/queue.md). */
export function queueRoutes(scope: HttpScope, ports: QueuePorts): void {
  readingRoutes(scope, ports);
  const { app, mutate } = scope;
  app.post(
    "/api/v0/standing_requests/",
    {
      config: { access: { operation: "api.standing_request.create", permission: "instance_write" } },
      schema: {
        tags: TAGS,
        summary: "Create an instance as soon as an offer matches",
        body: CreateBody,
        response: { 200: Created },
      },
    },
    (request) => {
      const identity = identityOf(request);
      return mutate(request, (tx) => createStandingRequest(tx, { identity, body: request.body }, ports));
    },
  );
  app.delete(
    "/api/v0/standing_requests/:id/",
    {
      config: { access: { operation: "api.standing_request.cancel", permission: "instance_write" } },
      schema: { tags: TAGS, summary: "Cancel a standing request", params: IdParams, response: { 200: Done } },
    },
    (request) => {
      const { userId } = identityOf(request);
      const { id } = request.params;
      return mutate(request, async (tx) => {
        await cancelStandingRequest(tx, { userId, id });
        return { success: true as const, msg: `Standing request ${id} is cancelled.` };
      });
    },
  );
}

function readingRoutes({ app, database, clock }: HttpScope, { search }: QueuePorts): void {
  app.get(
    "/api/v0/standing_requests/",
    {
      config: { access: { operation: "api.standing_request.list", permission: "instance_read" } },
      schema: { tags: TAGS, summary: "List standing requests, the newest first", response: { 200: Listing } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const records = await listStandingRequestRecords(database.kysely, userId, clock.now());
      return { success: true as const, standing_requests: [...records] };
    },
  );
  app.get(
    "/api/v0/standing_requests/:id/",
    {
      config: { access: { operation: "api.standing_request.show", permission: "instance_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a standing request, its place in the queue and the offers that match it",
        params: IdParams,
        response: { 200: Shown },
      },
    },
    async (request) => {
      const own = { userId: identityOf(request).userId, id: request.params.id, now: clock.now() };
      return { success: true as const, standing_request: await showStandingRequest(database.kysely, own, search) };
    },
  );
}
