import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Database } from "../db/connect.ts";
import { countGpuFailures, countGpus } from "../domains/supply/hosts/for-assembly.ts";
import { countFindings } from "../domains/money/audit/index.ts";
import type { LoopDriver } from "../base/loop-driver.ts";
import type { HttpScope } from "../http/server.ts";

type Sources = {
  readonly loops: LoopDriver;
  readonly gateway: { readonly connectedCount: number };
  readonly offers: { readonly size: number };
  readonly hub: { readonly openCount: number };
};

/** Figures for Prometheus at `/metrics`, behind an administrator's key. */
export function registerMetrics({ app, database }: HttpScope, { loops, gateway, offers, hub }: Sources): void {
  const registry = new Registry();
  const registers = [registry];
  let isCollecting = false;
  const requests = new Histogram({
    name: "berth_http_request_seconds",
    help: "Time from the arrival of a request to the end of its answer",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  new Gauge({
    name: "berth_agents_connected",
    help: "Agents with an open connection",
    registers,
    collect() {
      this.set(gateway.connectedCount);
    },
  });
  new Gauge({
    name: "berth_offers",
    help: "Live offers in memory",
    registers,
    collect() {
      this.set(offers.size);
    },
  });
  new Gauge({
    name: "berth_event_streams",
    help: "Open streams of events at this server",
    registers,
    collect() {
      this.set(hub.openCount);
    },
  });
  registerGpuFigures(database, registers);
  registerFindings(database, registers);
  new Gauge({
    name: "berth_loop_failures",
    help: "Failed runs of a background loop since the start",
    labelNames: ["loop"],
    registers,
    collect() {
      for (const loop of loops.report()) this.set({ loop: loop.name }, loop.failure_count);
    },
  });

  app.addHook("onResponse", async (request, reply) => {
    const operation = request.routeOptions.config.access?.operation ?? "none";
    // How long somebody listened is no time that an answer took.
    if (operation === "api.event.follow" || operation === "api.instance.follow_logs") return;
    requests.observe({ operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
  app.get(
    "/metrics",
    { config: { access: { operation: "api.metrics", permission: "admin" } }, schema: { hide: true } },
    async (_request, reply) => {
      // Measured only where somebody reads it: the collectors keep timers and buffers of their own.
      if (!isCollecting) collectDefaultMetrics({ register: registry });
      isCollecting = true;
      return reply.type(registry.contentType).send(await registry.metrics());
    },
  );
}

/** Read from the database by each process that is asked: they are figures of the market, not of the process. */
function registerGpuFigures({ kysely }: Database, registers: readonly Registry[]): void {
  new Gauge({
    name: "berth_gpu_failures",
    help: "How often a GPU became sick, as long as there are records",
    registers: [...registers],
    async collect() {
      this.set(await countGpuFailures(kysely));
    },
  });
  new Gauge({
    name: "berth_gpus",
    help: "GPUs by how they are: healthy, sick, or absent from the machine that had them",
    labelNames: ["state"],
    registers: [...registers],
    async collect() {
      for (const [state, count] of Object.entries(await countGpus(kysely))) this.set({ state }, count);
    },
  });
}

/** Registers the counts of findings of reconciliation and audits, over all processes. */
function registerFindings({ kysely }: Database, registers: readonly Registry[]): void {
  new Gauge({
    name: "berth_reconciliation_findings",
    help: "How often something was found that did not agree, by kind and by what was done about it",
    labelNames: ["kind", "outcome"],
    registers: [...registers],
    async collect() {
      for (const { kind, outcome, count } of await countFindings(kysely)) this.set({ kind, outcome }, count);
    },
  });
}
