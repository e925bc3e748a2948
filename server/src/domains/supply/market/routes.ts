import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { HttpScope } from "../../../http/server.ts";
import { listGpuNames, listGpuTypes } from "./search/rules/gpu-types.ts";
import type { OfferTable } from "./offer-table.ts";
import { GpuTypesBody, NestedSearchBody, OffersBody, SearchBody, SearchQuery } from "./schema.ts";
import { searchText } from "./search/rules/search.ts";

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
    chosen?: ReadonlySet<string>,
  ) => {
    const { identity } = request;
    const rentedMachines = identity === undefined ? NO_MACHINES : await machinesRentedBy(identity.userId);
    const found = searchText(offers.index, query, { now: clock.now(), rentedMachines }, chosen);
    // The text is sent as it is: it was written from the columns that the schema describes.
    return reply.type("application/json").send(`{"offers":${found}}`);
  };

  app.post(
    "/api/v0/bundles/",
    {
      config: { access: { operation: "api.offer.search", permission: "optional" } },
      schema: { summary: "Search offers", body: SearchBody, response: { 200: OffersBody } },
    },
    (request, reply) => answer(request, reply, request.body as Record<string, unknown>),
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
    (request, reply) => answer(request, reply, { q: request.query.q ?? "" }),
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
    (request, reply) => {
      const { q = {}, select_cols: columns = ["*"] } = request.body;
      const chosen = columns.includes("*") ? undefined : new Set(columns);
      return answer(request, reply, q as Record<string, unknown>, chosen);
    },
  );
  gpuRoutes(scope, offers);
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
    async () => ({
      gpu_types: listGpuTypes(offers.index).map(({ name, ramMb }) => ({ canonical_name: name, gpu_ram_mb: ramMb })),
    }),
  );
}
