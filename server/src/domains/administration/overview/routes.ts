import { AppError } from "../../../base/errors.ts";
import { inSnapshot } from "../../../db/transaction.ts";
import type { HttpScope } from "../../../http/server.ts";
import { Refusals } from "./refusals.ts";
import { OverviewResponse } from "./schema.ts";
import { readOverview, type OverviewPorts } from "./service.ts";

/** Operations that rent, by which refusals are counted. */
export const RENTS: ReadonlySet<string> = new Set([
  "api.instance.create",
  "api.instance.launch",
  "api.instance.create_bulk",
]);

/** The route for the market at a glance. */
export function overviewRoutes({ app, database, clock }: HttpScope, ports: Omit<OverviewPorts, "refusals">): void {
  const refusals = new Refusals(clock);
  app.addHook("onError", async (request, _reply, error) => {
    const operation = request.routeOptions.config.access?.operation ?? "";
    if (RENTS.has(operation)) refusals.note(error instanceof AppError ? error.code : "internal_error");
  });
  app.get(
    "/api/v0/admin/overview/",
    {
      config: { access: { operation: "api.admin.overview", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Show the market at a glance",
        response: { 200: OverviewResponse },
      },
    },
    async () => inSnapshot(database, (db) => readOverview(db, clock.now(), { ...ports, refusals })),
  );
}
