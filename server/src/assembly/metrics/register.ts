import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { RENTS } from "../../domains/administration/index.ts";
import type { HttpScope } from "../../http/server.ts";
import { Cached } from "./cached.ts";
import { readMarket, registerMarket, type MarketReading } from "./market.ts";
import { registerProcess, type ProcessSources } from "./process.ts";

/** Figures of the market are read from the database at most this often. Prometheus asks every 15 seconds by default. */
const MARKET_KEPT_MS = 10_000;

/** Figures for Prometheus at `/metrics`, behind an administrator's key or one that is narrowed to it. */
export function registerMetrics(
  scope: HttpScope,
  sources: Omit<ProcessSources, "clock"> & { readonly log: Log },
): void {
  const { app, database, clock } = scope;
  const { log } = sources;
  const registry = new Registry();
  const registers = [registry];
  let isCollecting = false;
  registerProcess(registry, database, { ...sources, clock });
  watchRequests(scope, registry);
  const showMarket = registerMarket(registry);
  const market = new Cached(readTimed, { keptMs: MARKET_KEPT_MS, clock });
  const isUp = new Gauge({ name: "berth_database_up", help: "1 while the database answers", registers });
  const reading = new Gauge({
    name: "berth_market_read_seconds",
    help: "How long the last reading of the market's figures took",
    registers,
  });

  async function readTimed(): Promise<MarketReading> {
    const startMs = clock.monotonicMs();
    const figures = await readMarket(database, clock.now());
    reading.set((clock.monotonicMs() - startMs) / 1000);
    return figures;
  }

  async function collectMarket(): Promise<void> {
    try {
      showMarket(await market.get());
      isUp.set(1);
    } catch (error) {
      // The figures of the process say most when the database is away.
      log.warn({ err: error }, "the figures of the market could not be read for /metrics");
      showMarket(undefined);
      isUp.set(0);
    }
  }

  app.get(
    "/metrics",
    {
      config: { access: { operation: "api.metrics", permission: "admin", isNarrowable: true } },
      schema: { hide: true },
    },
    async (_request, reply) => {
      // Measured only where somebody reads it: the collectors keep timers and buffers of their own.
      if (!isCollecting) collectDefaultMetrics({ register: registry });
      isCollecting = true;
      await collectMarket();
      return reply.type(registry.contentType).send(await registry.metrics());
    },
  );
}

function watchRequests({ app }: HttpScope, registry: Registry): void {
  const requests = new Histogram({
    name: "berth_http_request_seconds",
    help: "Time from the arrival of a request to the end of its answer",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  const refusals = new Counter({
    name: "berth_rent_refusals_total",
    help: "Rents that this server refused since its start, by error code",
    labelNames: ["code"],
    registers: [registry],
  });
  app.addHook("onError", async (request, _reply, error) => {
    const operation = request.routeOptions.config.access?.operation ?? "";
    if (RENTS.has(operation)) refusals.inc({ code: error instanceof AppError ? error.code : "internal_error" });
  });
  app.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.access?.operation ?? "none";
    // How long somebody listened is no time that an answer took.
    if (operation === "api.event.follow" || operation === "api.instance.follow_logs") return;
    requests.observe({ operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
}
