import type { FastifyRequest } from "fastify";
import { isTracing, startSpan, within, type Span } from "../base/tracing.ts";
import type { App } from "./types.ts";

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/;

/**
 * A span for each request, named by its route. Paths and queries may hold keys, so they are in no span. A `traceparent` counts
 * only when a trusted proxy sends it: anybody else could put their requests into the traces of others.
 */
export function traceRequests(app: App, isFromProxy: (request: FastifyRequest) => boolean): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", (request, _reply, done) => {
    const { method, routeOptions, headers } = request;
    const { traceparent } = headers;
    const isGiven = typeof traceparent === "string" && TRACEPARENT.test(traceparent) && isFromProxy(request);
    const span = startSpan(`${method} ${routeOptions.url ?? "none"}`, {
      kind: "server",
      attributes: {
        "http.request.method": method,
        "http.route": routeOptions.url,
        "berth.operation": routeOptions.config.access?.operation,
        "berth.request_id": request.id,
      },
      ...(isGiven ? { traceparent } : {}),
    });
    if (span !== undefined) spans.set(request, span);
    within(span, done);
  });
  app.addHook("preValidation", (request, _reply, done) => within(spans.get(request), done));
  app.addHook("onResponse", async (request, reply) => {
    const span = spans.get(request);
    span?.set({ "http.response.status_code": reply.statusCode, "berth.user_id": request.identity?.userId });
    span?.end(reply.statusCode >= 500 ? new Error("failed") : undefined);
  });
  app.addHook("onRequestAbort", async (request) => spans.get(request)?.end(new Error("aborted")));
}
