import { epochSeconds } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import { formatDollars } from "../../../../base/money.ts";
import type { Database } from "../../../../db/connect.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import {
  EndpointSpendResponse,
  SpendQuery,
  WorkerGroupSpendResponse,
  type EndpointSpend,
  type WorkerGroupSpend,
} from "./spend-schema.ts";
import {
  readHourlySpend,
  readSpan,
  readWorkSums,
  totalOf,
  viewSpent,
  type SpendSpan,
  type WorkSum,
} from "./spend-service.ts";

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
      const { works, hourly } = await readBoth(database, identityOf(request).userId, span);
      const present = { endpoints: hourly.endpoints, data_timestamp: epochSeconds(clock.now()) };
      return { ...heading(span, works), results: byEndpoint(works), ...present };
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
      const { works, hourly } = await readBoth(database, identityOf(request).userId, span);
      const present = { workergroups: hourly.workergroups, data_timestamp: epochSeconds(clock.now()) };
      return { ...heading(span, works), results: byGroup(works), ...present };
    },
  );
}

function readBoth(database: Database, userId: UserId, span: SpendSpan) {
  return inSnapshot(database, async (db) => ({
    works: await readWorkSums(db, userId, span),
    hourly: await readHourlySpend(db, userId),
  }));
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
