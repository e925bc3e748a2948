import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { MachineId, UserId } from "../../base/ids.ts";
import type { HttpScope } from "../../http/server.ts";
import type { OfferTable } from "./offer-table.ts";
import { NestedSearchBody, OffersBody, SearchBody, SearchQuery } from "./schema.ts";
import { searchOffers } from "./search.ts";

export type MarketPorts = {
  readonly offers: OfferTable;
  /** Machines on which a user rents now; the market itself knows leases, not their owners. */
  readonly machinesRentedBy: (userId: UserId) => Promise<ReadonlySet<MachineId>>;
};

export function marketRoutes(scope: HttpScope, { offers, machinesRentedBy }: MarketPorts): void {
  const { app, clock } = scope;

  const answer = async (request: FastifyRequest, query: Readonly<Record<string, unknown>>) => {
    const { identity } = request;
    const rentedMachines = identity === undefined ? new Set<MachineId>() : await machinesRentedBy(identity.userId);
    return { offers: [...searchOffers(offers.offers(), query, { now: clock.now(), rentedMachines })] };
  };

  app.post(
    "/api/v0/bundles/",
    {
      config: { access: { operation: "api.offer.search", permission: "optional" } },
      schema: { summary: "Search offers", body: SearchBody, response: { 200: OffersBody } },
    },
    (request) => answer(request, request.body as Record<string, unknown>),
  );
  app.get(
    "/api/v0/bundles/",
    {
      config: { access: { operation: "api.offer.query", permission: "optional" } },
      schema: {
        summary: "Search offers by a query text or JSON",
        querystring: SearchQuery,
        response: { 200: OffersBody },
      },
    },
    (request) => answer(request, { q: request.query.q ?? "" }),
  );
  app.put(
    "/api/v0/search/asks/",
    {
      config: { access: { operation: "api.offer.search_asks", permission: "misc" } },
      schema: {
        summary: "Search offers, chosen columns",
        body: NestedSearchBody,
        response: { 200: Type.Object({ offers: Type.Array(Type.Object({}, { additionalProperties: true })) }) },
      },
    },
    async (request) => {
      const { q = {}, select_cols: columns = ["*"] } = request.body;
      const found = await answer(request, q as Record<string, unknown>);
      if (columns.includes("*")) return found;
      const chosen = new Set(columns);
      const pick = (offer: object) => Object.fromEntries(Object.entries(offer).filter(([name]) => chosen.has(name)));
      return { offers: found.offers.map(pick) };
    },
  );
  app.get(
    "/api/v0/gpu_names/unique/",
    {
      config: { access: { operation: "api.offer.gpu_names", permission: "public" } },
      schema: {
        summary: "Names of GPUs on the market",
        response: { 200: Type.Object({ gpu_names: Type.Array(Type.String()) }) },
      },
    },
    async () => {
      const names = new Set<string>();
      for (const { fixed } of offers.offers()) if (fixed.num_gpus > 0) names.add(fixed.gpu_name);
      return { gpu_names: [...names].toSorted() };
    },
  );
}
