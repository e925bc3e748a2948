import { inSnapshot } from "../../../db/transaction.ts";
import type { HttpScope } from "../../../http/server.ts";
import { SearchQuery, SearchResponse } from "./schema.ts";
import { searchEverything } from "./search-service.ts";

/** The route of one search over everything that an administrator may look for. */
export function searchRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/search/",
    {
      config: { access: { operation: "api.admin.search", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Find people, teams, machines, instances, volumes, documents and payouts",
        querystring: SearchQuery,
        response: { 200: SearchResponse },
      },
    },
    async ({ query }) => {
      const { hits, isCut } = await inSnapshot(database, (db) => searchEverything(db, query.q));
      return { success: true as const, results: [...hits], is_cut: isCut };
    },
  );
}
