import type { FastifyRequest } from "fastify";
import { invalid } from "../../../base/errors.ts";
import type { HttpScope } from "../../../http/server.ts";
import { receiveEvent } from "./event-service.ts";
import { dependenciesOf, RETURN_PATH, type PaymentPorts } from "./route-ports.ts";

const RETURN_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Payment</title>
<p>You can close this page. What you paid is in your credit within seconds.</p></html>
`;

/** Routes that the provider calls or returns users to. They are not for clients, so OpenAPI leaves them out. */
export function webhookRoutes(scope: HttpScope, ports: PaymentPorts): void {
  const dependencies = dependenciesOf(scope, ports);
  scope.app.get(
    RETURN_PATH,
    { config: { access: { operation: "api.billing.returned", permission: "public" } }, schema: { hide: true } },
    async (_request, reply) => reply.type("text/html; charset=utf-8").send(RETURN_PAGE),
  );

  const rawBodies = new WeakMap<FastifyRequest, Buffer>();
  void scope.app.register(async (app) => {
    // The signature covers the bytes as they arrived, so the body is not parsed.
    app.removeContentTypeParser("application/json");
    app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
      rawBodies.set(request, body);
      done(null, {});
    });
    app.post(
      "/api/v0/billing/stripe/webhook/",
      { config: { access: { operation: "api.billing.webhook", permission: "public" } }, schema: { hide: true } },
      async (request) => {
        const signature = request.headers["stripe-signature"];
        const rawBody = rawBodies.get(request);
        if (typeof signature !== "string" || rawBody === undefined) {
          throw invalid("stripe-signature", "The request is not signed.", "invalid_signature");
        }
        await receiveEvent(dependencies, rawBody, signature);
        return { success: true as const };
      },
    );
  });
}
