import type { Log } from "../base/log.ts";
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
    const id: unknown = operation.startsWith("api.instance.") ? Reflect.get(Object(request.params), "id") : undefined;
    const fields = {
      request_id: request.id,
      operation,
      method: request.method,
      route: url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      user_id: request.identity?.userId,
      instance_id: /^\d{1,10}$/.test(String(id)) ? Number(id) : request.identity?.instanceId,
    };
    lines.info(fields, "request");
  });
}
