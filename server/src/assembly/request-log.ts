import type { Log } from "../base/log.ts";
import { instanceIdOf } from "../http/request-contexts.ts";
import type { HttpScope } from "../http/server.ts";

/**
 * Writes one line for each answered request, at every level of the log. The path is that of the route: the real one and its
 * query may hold keys.
 */
export function registerRequestLog({ app }: Pick<HttpScope, "app">, log: Log): void {
  const lines = log.child({}, { level: "info" });
  app.addHook("onResponse", async (request, reply) => {
    const { config, url } = request.routeOptions;
    const operation = config.access?.operation ?? "none";
    const fields = {
      request_id: request.id,
      operation,
      method: request.method,
      route: url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      user_id: request.identity?.userId,
      instance_id: instanceIdOf(request),
    };
    lines.info(fields, "request");
  });
}
