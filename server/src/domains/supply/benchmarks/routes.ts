import { parseSelectCols } from "../../../base/filters/parse-order.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { BENCHMARK_COLUMNS } from "./columns.ts";
import { BenchmarksAnswer, BenchmarksQuery } from "./schema.ts";
import { searchBenchmarks } from "./service.ts";
import type { ShownBenchmark } from "./store.ts";

/** The search for measurements of machines. */
export function benchmarkRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/benchmarks/",
    {
      config: { access: { operation: "api.benchmark.search", permission: "misc" } },
      schema: {
        tags: ["Offers"],
        summary: "Search measurements of machines",
        querystring: BenchmarksQuery,
        response: { 200: BenchmarksAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const chosen = parseSelectCols(request.query.select_cols, Object.keys(BENCHMARK_COLUMNS), "select_cols");
      const { benchmarks, nextToken } = await searchBenchmarks(database.kysely, userId, request.query);
      return {
        success: true as const,
        benchmarks_found: benchmarks.length,
        next_token: nextToken,
        benchmarks: benchmarks.map((benchmark) => pickColumns(benchmark, chosen)),
      };
    },
  );
}

function pickColumns(benchmark: ShownBenchmark, chosen: ReadonlySet<string> | undefined): Partial<ShownBenchmark> {
  if (chosen === undefined) return benchmark;
  return Object.fromEntries(Object.entries(benchmark).filter(([field]) => chosen.has(field)));
}
