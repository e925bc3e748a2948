import { Type } from "typebox";
import { notFound } from "../../../base/errors.ts";
import type { HttpScope } from "../../../http/server.ts";
import { readResult } from "./service.ts";

const TokenParams = Type.Object({ token: Type.String({ maxLength: 256 }) });

/** Serves the outputs of tasks. The address is the credential: anybody who knows it may read the output. */
export function resultRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/results/:token/",
    {
      // Answers are not JSON, and clients only follow these addresses.
      schema: { hide: true, params: TokenParams },
      config: { access: { operation: "api.result.show", permission: "public" } },
    },
    async (request, reply) => {
      const text = await readResult(database.kysely, request.params.token, clock.now());
      void reply.header("cache-control", "no-store");
      if (text === undefined) {
        throw notFound("no_such_result", "There is no result here: it is not ready yet, or its ten minutes are over.");
      }
      // The text comes from a container: no browser may take it for a page of this server.
      void reply.header("x-content-type-options", "nosniff");
      return reply.type("text/plain; charset=utf-8").send(text);
    },
  );
}
