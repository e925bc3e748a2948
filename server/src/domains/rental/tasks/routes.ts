import { Type } from "typebox";
import { notFound } from "../../../base/errors.ts";
import type { HttpScope } from "../../../http/server.ts";
import { readResult } from "./service.ts";

const TokenParams = Type.Object({ token: Type.String({ maxLength: 256 }) });

/** Where the outputs of tasks are fetched. Who knows an address may read what is behind it: it is the credential. */
export function resultRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/results/:token/",
    {
      // Answers are no JSON, and addresses are followed, never made.
      schema: { hide: true, params: TokenParams },
      config: { access: { operation: "api.result.show", permission: "public" } },
    },
    async (request, reply) => {
      const text = await readResult(database.kysely, request.params.token, clock.now());
      void reply.header("cache-control", "no-store");
      if (text === undefined) {
        throw notFound("no_such_result", "There is no result here: it is not ready yet, or its ten minutes are over.");
      }
      // A container's own words: no browser may take them for a page of ours.
      void reply.header("x-content-type-options", "nosniff");
      return reply.type("text/plain; charset=utf-8").send(text);
    },
  );
}
