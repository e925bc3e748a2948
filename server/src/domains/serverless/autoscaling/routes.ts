import { identityOf, type HttpScope } from "../../../http/server.ts";
import {
  EndpointLogsBody,
  EventsQuery,
  EventsResponse,
  LogsResponse,
  TAIL_MAX,
  UpdateWorkersBody,
  UpdateWorkersResponse,
  WorkerGroupLogsBody,
} from "./schema.ts";
import { eventRecord, logsOf } from "./views.ts";
import { listEvents } from "./event-store.ts";
import { noSuchWorkerGroup, requireEndpoint } from "../endpoints/require-own.ts";
import { EndpointPath } from "../endpoints/schema.ts";
import { toWorkerGroupId, updateWorkers } from "../worker-groups/service.ts";
import { findWorkerGroup } from "../worker-groups/store.ts";

const TAG = ["Serverless"];
const TAIL_DEFAULT = 1000;
const EVERYTHING = 3;

/** Routes to the log of the autoscaler, and to the update of workers. */
export function autoscalerRoutes(scope: HttpScope): void {
  endpointLogRoute(scope);
  workerGroupLogRoutes(scope);
  updateRoute(scope);
  eventRoute(scope);
}

function endpointLogRoute({ app, database }: HttpScope): void {
  app.post(
    "/get_endpoint_logs/",
    {
      config: { access: { operation: "api.endpoint.logs", permission: "misc", isKeyInBody: true } },
      schema: {
        tags: TAG,
        summary: "Show what happened in an endpoint group, as text",
        body: EndpointLogsBody,
        response: { 200: LogsResponse },
      },
    },
    async (request) => {
      const { id, endpoint, tail } = request.body;
      const db = database.kysely;
      const found = await requireEndpoint(db, identityOf(request).userId, { id, name: endpoint });
      return logsOf(await listEvents(db, found, { level: EVERYTHING, limit: lineCount(tail), before: undefined }));
    },
  );
}

/** Two names of one operation: older clients call worker groups autogroups. */
function workerGroupLogRoutes({ app, database }: HttpScope): void {
  for (const path of ["/get_workergroup_logs/", "/get_autogroup_logs/"]) {
    const isAlias = path.includes("autogroup");
    app.post(
      path,
      {
        config: { access: { operation: "api.workergroup.logs", permission: "misc", isKeyInBody: true, isAlias } },
        schema: {
          tags: TAG,
          summary: "Show what happened in a worker group, as text",
          body: WorkerGroupLogsBody,
          response: { 200: LogsResponse },
        },
      },
      async (request) => {
        const { id, tail } = request.body;
        const db = database.kysely;
        const group = await findWorkerGroup(db, toWorkerGroupId(id), identityOf(request).userId);
        if (group === undefined) throw noSuchWorkerGroup(id);
        const limit = lineCount(tail);
        const query = { level: EVERYTHING, limit, before: undefined, workerGroupId: group.id } as const;
        return logsOf(await listEvents(db, group.endpointGroupId, query));
      },
    );
  }
}

function lineCount(tail: number | undefined): number {
  if (tail === undefined) return TAIL_DEFAULT;
  return tail < 0 ? TAIL_MAX : Math.min(tail, TAIL_MAX);
}

function updateRoute(scope: HttpScope): void {
  scope.app.post(
    "/update_workers/",
    {
      config: {
        access: {
          operation: "api.workergroup.update_workers",
          permission: "misc",
          alsoNeeds: "instance_write",
          isKeyInBody: true,
        },
      },
      schema: {
        tags: TAG,
        summary: "Update the workers of a group to its present recipe, or call that off",
        body: UpdateWorkersBody,
        response: { 200: UpdateWorkersResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { workergroup_id: id, cancel_update: isCancelled = false } = request.body;
        const update = await updateWorkers(tx, { identity: identityOf(request), id, isCancelled });
        if (update === undefined) throw noSuchWorkerGroup(id);
        return { success: true as const, cancelled: isCancelled, workers_to_update: update.outdatedCount };
      }),
  );
}

function eventRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/endptjobs/:id/events/",
    {
      config: { access: { operation: "api.endpoint.events", permission: "misc" } },
      schema: {
        tags: TAG,
        summary: "Show what happened in an endpoint group and why",
        params: EndpointPath,
        querystring: EventsQuery,
        response: { 200: EventsResponse },
      },
    },
    async (request) => {
      const { level = 1, limit = 100, before } = request.query;
      const db = database.kysely;
      const found = await requireEndpoint(db, identityOf(request).userId, { id: request.params.id, name: undefined });
      const events = await listEvents(db, found, { level: asLevel(level), limit, before });
      return { success: true as const, events: events.map(eventRecord) };
    },
  );
}

const LEVELS = [0, 1, 2, 3] as const;

/** The level as one of the known ones; the schema refuses all others. */
function asLevel(level: number): (typeof LEVELS)[number] {
  return LEVELS[level] ?? EVERYTHING;
}
