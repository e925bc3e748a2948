import { Type } from "typebox";
import type { HttpScope } from "../http/server.ts";
import type { LoopDriver } from "../loops/driver.ts";

/** Whether the process answers, and whether what it stands on does. */
export function registerHealth({ app, database }: HttpScope, loops: LoopDriver): void {
  const Answer = Type.Object({ status: Type.String() });
  app.get(
    "/healthz",
    {
      config: { access: { operation: "api.health.process", permission: "public" } },
      schema: { summary: "Whether the process answers", response: { 200: Answer } },
    },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/readyz",
    {
      config: { access: { operation: "api.health.ready", permission: "public" } },
      schema: { summary: "Whether database and loops work", response: { 200: Answer, 503: Answer } },
    },
    async (_request, reply) => {
      const isDatabaseUp = await database.pool.query("select 1").then(
        () => true,
        () => false,
      );
      if (isDatabaseUp && loops.isHealthy()) return { status: "ok" };
      return reply
        .code(503)
        .send({ status: isDatabaseUp ? "a background loop fails" : "the database does not answer" });
    },
  );
}
