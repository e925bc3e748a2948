import { invalid } from "../../../../base/errors.ts";
import { parseMoment } from "../../../../base/moment.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { audited, SUCCESS, TAGS } from "../route-ports.ts";
import { readMachineIds } from "../own-machine.ts";
import { Done } from "../schema.ts";
import { listMaintenancesFor } from "../upkeep-service.ts";
import { viewMaintenance } from "../views.ts";
import { cancelBatch, cancelById, scheduleBatch } from "./batch-service.ts";
import {
  BatchBody,
  BatchCancelBody,
  BatchCancelResponse,
  BatchResponse,
  CancelBody,
  FindBody,
  FindResponse,
} from "./schema.ts";

/** Routes that find maintenances by machines, and announce or cancel them for several machines at once. */
export function maintenanceBatchRoutes(scope: HttpScope): void {
  findRoute(scope);
  cancelRoute(scope);
  batchRoutes(scope);
}

function findRoute({ app, database, clock }: HttpScope): void {
  app.post(
    "/api/v0/machines/maintenances/",
    {
      config: { access: { operation: "api.machine.find_maintenances", permission: "instance_read" } },
      schema: {
        tags: TAGS,
        summary: "Show maintenances of these machines, which one hosts or rents on",
        body: FindBody,
        response: { 200: FindResponse },
      },
    },
    async (request) => {
      const { machine_ids: asked, ctime } = request.body;
      const machineIds = readMachineIds(asked);
      if (machineIds.length === 0) throw invalid("machine_ids", "machine_ids must name at least one machine");
      const now = ctime === undefined ? clock.now() : readTime(ctime);
      const found = await listMaintenancesFor(database.kysely, identityOf(request).userId, { machineIds, now });
      return found.map(viewMaintenance);
    },
  );
}

function cancelRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.delete(
    "/api/v0/machines/maintenances/",
    {
      config: { access: { operation: "api.machine.cancel_one_maintenance", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Cancel one maintenance of an own machine",
        body: CancelBody,
        response: { 200: Done },
      },
    },
    (request) =>
      change(request, { maintenance_id: request.body.maintenance_id }, async (tx) => {
        const msg = await cancelById(tx, identityOf(request).userId, request.body.maintenance_id);
        return { ...SUCCESS, msg };
      }),
  );
}

function batchRoutes(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.post(
    "/api/v0/machines/maintenances/batch/",
    {
      config: { access: { operation: "api.machine.schedule_maintenances", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Announce a maintenance of several own machines",
        body: BatchBody,
        response: { 200: BatchResponse },
      },
    },
    (request) =>
      change(request, { machine_ids: request.body.machine_ids }, async (tx) => ({
        ...SUCCESS,
        results: [...(await scheduleBatch(tx, identityOf(request).userId, request.body))],
      })),
  );
  app.delete(
    "/api/v0/machines/maintenances/batch/",
    {
      config: { access: { operation: "api.machine.cancel_maintenances", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Cancel several maintenances of own machines",
        body: BatchCancelBody,
        response: { 200: BatchCancelResponse },
      },
    },
    (request) =>
      change(request, { maintenance_ids: request.body.maintenance_ids }, async (tx) => ({
        ...SUCCESS,
        results: [...(await cancelBatch(tx, identityOf(request).userId, request.body.maintenance_ids))],
      })),
  );
}

function readTime(seconds: number): Date {
  const moment = parseMoment(String(seconds), { isEnd: false });
  if (moment === undefined) throw invalid("ctime", "ctime must be a number of seconds since 1970");
  return moment;
}
