import { Type } from "typebox";
import { epochSeconds } from "../../../base/clock.ts";
import { model } from "../../../http/model.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { listMachineErrors } from "./machine-error-service.ts";
import { TAGS } from "./route-ports.ts";

/** The published bound of the list; the count has none. */
const ERRORS_MAX = 500;

const ErrorsResponse = Type.Array(
  model("MachineError", {
    machine_id: Type.Integer({ description: "Id of the machine" }),
    error_description: Type.String({
      description: "The reason why the machine is out of rotation",
      examples: ["GPU 3: it is hot"],
    }),
    date: Type.Number({
      description: "Time at which the machine was seen last, in seconds since 1970",
      examples: [1_767_225_600],
    }),
  }),
);
const CountResponse = Type.Object({
  count: Type.Integer({ description: "Number of own machines that are out of rotation", examples: [1] }),
});

/** Routes for a host's machines that are out of rotation. */
export function machineErrorRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/machines/errors/",
    {
      config: { access: { operation: "api.machine.errors", permission: "machine_read" } },
      schema: { tags: TAGS, summary: "Show own machines with errors", response: { 200: ErrorsResponse } },
    },
    async (request) => {
      const errors = await listMachineErrors(database.kysely, identityOf(request).userId, clock.now());
      return errors.slice(0, ERRORS_MAX).map(({ machineId, description, seenAt }) => ({
        machine_id: machineId,
        error_description: description,
        date: epochSeconds(seenAt),
      }));
    },
  );
  app.get(
    "/api/v0/machines/errors/count/",
    {
      config: { access: { operation: "api.machine.error_count", permission: "machine_read" } },
      schema: { tags: TAGS, summary: "Count own machines with errors", response: { 200: CountResponse } },
    },
    async (request) => ({
      count: (await listMachineErrors(database.kysely, identityOf(request).userId, clock.now())).length,
    }),
  );
}
