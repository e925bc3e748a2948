import type { FastifyRequest } from "fastify";
import { epochSeconds } from "../../../base/clock.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import type { Bucket } from "./rules/sample.ts";
import type { Scope } from "./rules/span.ts";
import {
  Current,
  CurrentQuery,
  GpuPrices,
  History,
  HistoryQuery,
  Locations,
  RentersHistory,
  RentersHistoryQuery,
} from "./schema.ts";
import { createPlaces, needsMachine, showCurrent, showHistory, showPrices, showRentersHistory } from "./service.ts";

const TAGS = ["Market metrics"];
const NEEDS_MACHINE = { success: true as const, needs_machine: true };

/** Routes of market metrics: supply, prices and locations of GPUs. */
export function statisticsRoutes(scope: HttpScope): void {
  metricsRoutes(scope);
  rentersRoutes(scope);
  const { app, database, clock } = scope;
  const listPlaces = createPlaces(clock);
  app.get(
    "/api/v0/metrics/gpu/locations/",
    {
      config: { access: { operation: "api.metrics.gpu_locations", permission: "machine_read" } },
      schema: { tags: TAGS, summary: "Where the GPUs are", response: { 200: Locations } },
    },
    async (request) => {
      if (await isWithoutMachines(scope, request)) return NEEDS_MACHINE;
      return { success: true as const, locations: [...(await listPlaces(database.kysely))] };
    },
  );
  app.get(
    "/api/v0/gpu_prices/",
    {
      config: { access: { operation: "api.metrics.gpu_prices", permission: "public" } },
      schema: { tags: TAGS, summary: "What GPUs cost now and a day ago", response: { 200: GpuPrices } },
    },
    async () => {
      const { sampledAt, gpus } = await showPrices(database.kysely, clock.now());
      return { success: true as const, sampled_at: sampledAt === undefined ? null : epochSeconds(sampledAt), gpus };
    },
  );
}

function rentersRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/market/history/",
    {
      config: { access: { operation: "api.market.history", permission: "public" } },
      schema: {
        tags: TAGS,
        summary: "Prices and supply of one kind of GPU over time",
        querystring: RentersHistoryQuery,
        response: { 200: RentersHistory },
      },
    },
    async ({ query }) => {
      const { gpu_name: name, days = 7 } = query;
      const { verified, bucket } = readScope(query);
      const gpuName = name.replaceAll("_", " ").trim();
      const asked = { gpuName, bucket, verified, days };
      const { stepSeconds, points } = await showRentersHistory(database.kysely, clock.now(), asked);
      return { success: true as const, gpu_name: gpuName, num_gpus: bucket, step_s: stepSeconds, points };
    },
  );
}

function metricsRoutes(scope: HttpScope): void {
  const { app, database, clock } = scope;
  app.get(
    "/api/v0/metrics/gpu/current/",
    {
      config: { access: { operation: "api.metrics.gpu_current", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Supply, demand and prices of GPUs now",
        querystring: CurrentQuery,
        response: { 200: Current },
      },
    },
    async (request) => {
      const wanted = readScope(request.query);
      if (await isWithoutMachines(scope, request)) return NEEDS_MACHINE;
      return { success: true as const, gpus: await showCurrent(database.kysely, clock.now(), wanted) };
    },
  );
  app.get(
    "/api/v0/metrics/gpu/history/",
    {
      config: { access: { operation: "api.metrics.gpu_history", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Supply, demand and prices of GPUs over time",
        querystring: HistoryQuery,
        response: { 200: History },
      },
    },
    async (request) => {
      const { gpu_name: names, start, end, step } = request.query;
      const asked = { ...readScope(request.query), names: readNames(names), start, end, step };
      if (await isWithoutMachines(scope, request)) return NEEDS_MACHINE;
      return { success: true as const, gpus: await showHistory(database.kysely, clock.now(), asked) };
    },
  );
}

function isWithoutMachines({ database }: HttpScope, request: FastifyRequest): Promise<boolean> {
  return needsMachine(database.kysely, identityOf(request).userId);
}

type ScopeQuery = {
  readonly verified?: Scope["verified"];
  readonly hosting_type?: Scope["hosting"];
  readonly num_gpus?: Bucket;
};

function readScope({ verified = "yes", hosting_type: hosting = "all", num_gpus: bucket = "all" }: ScopeQuery): Scope {
  return { verified, hosting, bucket };
}

/** Names as people write them: `RTX_4090` is `RTX 4090`. */
function readNames(text: string | undefined): readonly string[] | "all" | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  if (text.trim() === "all") return "all";
  const names = text.split(",").map((name) => name.replaceAll("_", " ").trim());
  return [...new Set(names.filter((name) => name !== ""))];
}
