import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalid, notFound } from "../../../base/errors.ts";
import { readJson, shown } from "../../../base/filters/json-input.ts";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { HttpScope } from "../../../http/server.ts";
import { listGpuNames, listGpuTypes } from "./search/rules/gpu-types.ts";
import { bidHistoryRoutes } from "./bid-history/routes.ts";
import type { OfferTable } from "./offer-table.ts";
import {
  BidBody,
  BundleParams,
  ChosenOffersBody,
  GpuType,
  GpuTypeParams,
  GpuTypesBody,
  NestedSearchBody,
  OffersBody,
  SearchBody,
  SearchQuery,
} from "./schema.ts";
import { LIMIT_MAX } from "./search/rules/search-request.ts";
import { searchOffers, searchText } from "./search/rules/search.ts";

export type MarketPorts = {
  readonly offers: OfferTable;
  /** Machines on which a user rents now; the market knows GPU grants, not the owners of their instances. */
  readonly machinesRentedBy: (userId: UserId) => Promise<ReadonlySet<MachineId>>;
};

const NO_MACHINES: ReadonlySet<MachineId> = new Set();

export function marketRoutes(scope: HttpScope, { offers, machinesRentedBy }: MarketPorts): void {
  const { app, clock } = scope;

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    query: Readonly<Record<string, unknown>>,
    options: Parameters<typeof searchText>[3] = {},
  ) => {
    const { identity } = request;
    const rentedMachines = identity === undefined ? NO_MACHINES : await machinesRentedBy(identity.userId);
    const { offers: found, matching } = searchText(offers.index, query, { now: clock.now(), rentedMachines }, options);
    // The text is sent as it is: it was written from the columns that the schema describes.
    return reply.type("application/json").send(`{"offers":${found},"matching":${matching}}`);
  };

  app.post(
    "/api/v0/bundles/",
    {
      config: { access: { operation: "api.offer.search", permission: "optional" } },
      schema: { summary: "Search offers", body: SearchBody, response: { 200: OffersBody } },
    },
    (request, reply) => answer(request, reply, request.body as Record<string, unknown>),
  );
  for (const [path, access] of [
    ["/api/v0/bundles/", { operation: "api.offer.query", permission: "optional" }],
    ["/api/v0/search/asks/", { operation: "api.offer.query_asks", permission: "misc" }],
  ] as const) {
    app.get(
      path,
      {
        config: { access },
        schema: {
          summary: "Search offers by a query text or JSON",
          querystring: SearchQuery,
          response: { 200: ChosenOffersBody },
        },
      },
      (request, reply) => {
        const { q, select_cols: columns } = request.query;
        const options = { chosen: readColumns(columns), limitDefault: LIMIT_MAX };
        return answer(request, reply, { q: q ?? "" }, options);
      },
    );
  }
  app.put(
    "/api/v0/search/asks/",
    {
      config: { access: { operation: "api.offer.search_asks", permission: "misc" } },
      schema: {
        summary: "Search offers, chosen columns",
        body: NestedSearchBody,
        response: { 200: ChosenOffersBody },
      },
    },
    (request, reply) => {
      const { q = {}, select_cols: columns } = request.body;
      return answer(request, reply, q as Record<string, unknown>, { chosen: readColumns(columns) });
    },
  );
  gpuRoutes(scope, offers);
  bundleRoutes(scope, offers);
  bidHistoryRoutes(scope);
}

/**
 * The columns to write, given as a list or as its JSON; undefined for all of them, which an empty list asks for too. A
 * name that offers do not have is left out, since clients ask for what their own version knows.
 */
function readColumns(selection: unknown): ReadonlySet<string> | undefined {
  const columns = readJson(selection, "select_cols") ?? ["*"];
  if (!Array.isArray(columns) || columns.some((column) => typeof column !== "string")) {
    throw invalid("select_cols", `select_cols must be a list of column names, got ${shown(columns)}`);
  }
  return columns.length === 0 || columns.includes("*") ? undefined : new Set<string>(columns);
}

function gpuRoutes({ app }: HttpScope, offers: OfferTable): void {
  app.get(
    "/api/v0/gpu_names/unique/",
    {
      config: { access: { operation: "api.offer.gpu_names", permission: "public" } },
      schema: {
        summary: "Names of GPUs on the market",
        response: { 200: Type.Object({ gpu_names: Type.Array(Type.String()) }) },
      },
    },
    async () => ({ gpu_names: [...listGpuNames(offers.index)] }),
  );
  app.get(
    "/api/v0/gpu_types/",
    {
      config: { access: { operation: "api.offer.gpu_types", permission: "public" } },
      schema: { summary: "GPUs on the market and their memory", response: { 200: GpuTypesBody } },
    },
    async () => ({ gpu_types: viewGpuTypes(offers) }),
  );
  app.get(
    "/api/v0/gpu_types/:id/",
    {
      config: { access: { operation: "api.offer.gpu_type", permission: "public" } },
      schema: { summary: "A GPU on the market and its memory", params: GpuTypeParams, response: { 200: GpuType } },
    },
    async ({ params: { id } }) => {
      const name = id.replaceAll("_", " ");
      const found = viewGpuTypes(offers).find(({ canonical_name: one }) => one.replaceAll("_", " ") === name);
      if (found !== undefined) return found;
      const message = `No GPU on the market is named ${shown(id)}. GET /api/v0/gpu_types/ lists their names.`;
      throw notFound("no_such_gpu_type", message, { extra: { field: "id" } });
    },
  );
}

function viewGpuTypes({ index }: OfferTable) {
  return listGpuTypes(index).map(({ name, ramMb }) => ({ canonical_name: name, gpu_ram_mb: ramMb }));
}

/** Questions about a bundle. They change nothing, so that an Idempotency-Key has nothing to keep. */
function bundleRoutes({ app, clock }: HttpScope, offers: OfferTable): void {
  const lowestBid = (text: string, minSeconds = 0): number => {
    const id = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    const query = {
      bundle_id: { eq: id },
      duration: { gte: minSeconds },
      type: "bid",
      allocated_storage: 0,
      disable_bundling: true,
      order: [["min_bid", "asc"]],
      limit: 1,
    };
    const caller = { now: clock.now(), rentedMachines: NO_MACHINES };
    const [best] = id === undefined ? [] : searchOffers(offers.index, query, caller);
    if (best !== undefined) return best.min_bid;
    const message = `No offer of bundle ${shown(text)} is on the market. Search again: a bundle ends with its offers.`;
    throw notFound("no_such_ask", message, { extra: { field: "id" } });
  };
  app.put(
    "/api/v0/bundles_bid_price/:id/",
    {
      config: { access: { operation: "api.offer.suggest_bid", permission: "optional" } },
      schema: {
        summary: "Suggest a bid for a bundle",
        params: BundleParams,
        body: BidBody,
        response: { 200: Type.Number({ examples: [0.21] }) },
      },
    },
    async ({ params, body }) => lowestBid(params.id, body.min_duration),
  );
  app.put(
    "/api/v0/bundles/:id/",
    {
      config: { access: { operation: "api.offer.update_bundle", permission: "optional" } },
      schema: {
        summary: "Ask about a bundle: switched off",
        params: BundleParams,
        body: BidBody,
        response: { 200: Type.Object({}, { examples: [{}] }) },
      },
    },
    async ({ params, body }) => {
      lowestBid(params.id, body.min_duration);
      return {};
    },
  );
}
