import { Counter, Gauge, type Registry } from "prom-client";
import manifest from "../../../../package.json" with { type: "json" };
import type { Clock } from "../../base/clock.ts";
import type { LoopDriver } from "../../base/loop-driver.ts";
import type { Database } from "../../db/connect.ts";
import type { NameState } from "../../domains/names/index.ts";
import type { Routers } from "../../domains/serverless/index.ts";

export type ProcessSources = {
  readonly loops: Pick<LoopDriver, "ages">;
  readonly gateway: { readonly connectedCount: number };
  readonly offers: { readonly size: number };
  readonly hub: { readonly openCount: number };
  readonly routers: Pick<Routers, "queues">;
  readonly clock: Pick<Clock, "now">;
  readonly freeBytes: () => Promise<number | undefined>;
  readonly names: { readonly states: () => readonly NameState[] } | undefined;
};

/** Registers the figures of this process, which cost a look at its memory. */
export function registerProcess(registry: Registry, { pool }: Pick<Database, "pool">, sources: ProcessSources): void {
  const { loops, gateway, offers, hub, routers, clock, freeBytes, names } = sources;
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  new Gauge({ name: "berth_build_info", help: "1, with the version", labelNames: ["version"], registers }).set(
    { version: manifest.version },
    1,
  );
  gauge("berth_agents_connected", "Agents with an open connection to this server", () => gateway.connectedCount);
  gauge("berth_offers", "Live offers in memory", () => offers.size);
  gauge("berth_event_streams", "Open streams of events at this server", () => hub.openCount);
  gauge("berth_endpoint_requests_waiting", "Requests to endpoints that wait here for a worker", () =>
    routers.queues().reduce((sum, { requestCount }) => sum + requestCount, 0),
  );
  gauge(
    "berth_endpoint_oldest_wait_seconds",
    "How long the oldest request to an endpoint has waited here; 0 when none waits",
    () => {
      const nowMs = clock.now().getTime();
      return routers.queues().reduce((most, { oldestMs = nowMs }) => Math.max(most, nowMs - oldestMs), 0) / 1000;
    },
  );
  new Gauge({
    name: "berth_database_connections",
    help: "Connections of this server to the database by state; `wanted` are statements that wait for one",
    labelNames: ["state"],
    registers,
    collect() {
      this.set({ state: "idle" }, pool.idleCount);
      this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
      this.set({ state: "wanted" }, pool.waitingCount);
    },
  });
  gauge("berth_database_connections_max", "The most connections that this server opens", () => pool.options.max ?? 0);
  new Gauge({
    name: "berth_data_disk_free_bytes",
    help: "Room left on the disk of the data directory",
    registers,
    async collect() {
      const free = await freeBytes().catch(() => undefined);
      if (free === undefined) this.remove();
      else this.set(free);
    },
  });
  registerNames(registry, names);
  registerLoops(registry, loops);
}

function registerNames(registry: Registry, names: ProcessSources["names"]): void {
  const registers = [registry];
  new Gauge({
    name: "berth_certificate_expiry_timestamp_seconds",
    help: "When the certificate of a name ends, in seconds since 1970; 0 while there is none",
    labelNames: ["name"],
    registers,
    collect() {
      for (const { name, expiresAt } of names?.states() ?? []) this.set({ name }, (expiresAt?.getTime() ?? 0) / 1000);
    },
  });
  new Gauge({
    name: "berth_certificate_failures",
    help: "Orders of a name's certificate that have failed since the last one that was issued",
    labelNames: ["name"],
    registers,
    collect() {
      for (const { name, failureCount } of names?.states() ?? []) this.set({ name }, failureCount);
    },
  });
}

function registerLoops(registry: Registry, loops: Pick<LoopDriver, "ages">): void {
  const registers = [registry];
  const labelNames = ["loop"];
  new Gauge({
    name: "berth_loop_age_seconds",
    help: "Time since the last run of a background loop without failure",
    labelNames,
    registers,
    collect() {
      for (const { name, age_seconds: age } of loops.ages()) this.set({ loop: name }, age);
    },
  });
  new Gauge({
    name: "berth_loop_period_seconds",
    help: "How often a background loop should run at least",
    labelNames,
    registers,
    collect() {
      for (const { name, every_ms: everyMs } of loops.ages()) this.set({ loop: name }, everyMs / 1000);
    },
  });
  new Counter({
    name: "berth_loop_runs_total",
    help: "Runs of a background loop since the start",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, run_count: count } of loops.ages()) this.inc({ loop: name }, count);
    },
  });
  new Counter({
    name: "berth_loop_failures_total",
    help: "Failed runs of a background loop since the start",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, failure_count: count } of loops.ages()) this.inc({ loop: name }, count);
    },
  });
}
