import { AppError } from "../../../../base/errors.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { BulkAnswer, BulkBody, LaunchBody, type SearchOffers } from "./launch-schema.ts";
import { launchInstance, planBulk, rentInBulk } from "./launch-service.ts";
import type { OrderDesk } from "./order-desk.ts";
import { CreateAnswer } from "./create-schema.ts";

export type LaunchPorts = { readonly desk: OrderDesk; readonly searchOffers: SearchOffers };

/** Ways to rent other than from one offer by its id. */
export function launchRoutes({ app, clock, database, mutate, repeatable }: HttpScope, ports: LaunchPorts): void {
  app.put(
    "/api/v0/launch_instance/",
    {
      config: { access: { operation: "api.instance.launch", permission: "instance_write" } },
      schema: {
        summary: "Search offers and create an instance from the first that can be had",
        body: LaunchBody,
        response: { 200: CreateAnswer },
      },
    },
    async (request) => {
      const launch = { identity: identityOf(request), body: request.body, repeatable: repeatable(request) };
      try {
        return await launchInstance(database.kysely, launch, ports);
      } catch (error) {
        throw error instanceof AppError ? withMessage(error) : error;
      }
    },
  );
  app.post(
    "/api/v0/asks/bulk/",
    {
      config: { access: { operation: "api.instance.create_bulk", permission: "instance_write" } },
      schema: {
        summary: "Create an instance from each of these offers",
        body: BulkBody,
        response: { 200: BulkAnswer },
      },
    },
    async (request) => {
      const beganMs = clock.monotonicMs();
      const bulk = { identity: identityOf(request), body: request.body, repeatable: repeatable(request) };
      const orders = await planBulk(database.kysely, bulk, ports.desk);
      return mutate(request, async (tx) => ({
        ...(await rentInBulk(tx, orders)),
        elapsed: (clock.monotonicMs() - beganMs) / 1000,
      }));
    },
  );
}

/** Adds `message` to a refusal: clients print it for this operation alone, and `msg` for all others. */
function withMessage({ kind, code, publicMessage, extra, internal, cause }: AppError): AppError {
  return new AppError(kind, code, publicMessage, { extra: { ...extra, message: publicMessage }, internal, cause });
}
