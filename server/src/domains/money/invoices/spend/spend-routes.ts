import { epochSeconds } from "../../../../base/clock.ts";
import { formatDollars } from "../../../../base/money.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import {
  EndpointSpendResponse,
  SpendQuery,
  WorkerGroupSpendResponse,
  type EndpointSpend,
  type WorkerGroupSpend,
} from "./spend-schema.ts";
import { readSpan, readWorkSums, totalOf, viewSpent, type SpendSpan, type WorkSum } from "./spend-service.ts";

/** Routes for the spending of endpoints and their worker groups. */
export function spendRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/serverless/endpoints/spend/",
    {
      config: { access: { operation: "api.endpoint.spend", permission: "user_read" } },
      schema: {
        tags: ["Serverless"],
        summary: "Show the spending of each endpoint group",
        querystring: SpendQuery,
        response: { 200: EndpointSpendResponse },
      },
    },
    async (request) => {
      const span = readSpan(request.query, clock.now());
      const works = await inSnapshot(database, (db) => readWorkSums(db, identityOf(request).userId, span));
      return { ...heading(span, works), results: byEndpoint(works) };
    },
  );

  app.get(
    "/api/v0/serverless/workergroups/spend/",
    {
      config: { access: { operation: "api.workergroup.spend", permission: "user_read" } },
      schema: {
        tags: ["Serverless"],
        summary: "Show the spending of each worker group",
        querystring: SpendQuery,
        response: { 200: WorkerGroupSpendResponse },
      },
    },
    async (request) => {
      const span = readSpan(request.query, clock.now());
      const works = await inSnapshot(database, (db) => readWorkSums(db, identityOf(request).userId, span));
      return { ...heading(span, works), results: byGroup(works) };
    },
  );
}

function heading({ from, until }: SpendSpan, works: readonly WorkSum[]) {
  const total = formatDollars(totalOf(works));
  return { success: true as const, start: epochSeconds(from), end: epochSeconds(until), total };
}

function byEndpoint(works: readonly WorkSum[]): EndpointSpend[] {
  return [...Map.groupBy(works, ({ place }) => place.endpointId)]
    .toSorted(([a], [b]) => a - b)
    .map(([endpoint, own]) => {
      const name = own[0]?.place.endpointName ?? "";
      return { endpoint_id: endpoint, ...(name === "" ? {} : { endpoint_name: name }), ...viewSpent(own) };
    });
}

function byGroup(works: readonly WorkSum[]): WorkerGroupSpend[] {
  return [...Map.groupBy(works, ({ place }) => `${place.endpointId} ${place.workerGroupId ?? 0}`).values()]
    .flatMap((own) => {
      const [first] = own;
      if (first === undefined) return [];
      const { endpointId, workerGroupId } = first.place;
      const group = workerGroupId === undefined ? {} : { workergroup_id: workerGroupId };
      return [{ ...group, endpoint_id: endpointId, ...viewSpent(own) }];
    })
    .toSorted((a, b) => a.endpoint_id - b.endpoint_id || (a.workergroup_id ?? 0) - (b.workergroup_id ?? 0));
}
