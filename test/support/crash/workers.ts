// The programs of workers in simulated containers, which outlive the server: the real worker before a backend of a fixed
// speed, begun and ended with its container.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { startWorker, systemClock, type RunningWorker } from "../../../worker/src/index.ts";
import type { CrashWorld } from "./world.ts";
import type { RunningContainer } from "./lasting-engine.ts";

const UNITS_PER_SECOND = 20;
const LOOK_EVERY_MS = 50;
const MAX_QUEUE_S = 30;

/** A run of a container's program. */
type Program = { readonly key: string; readonly worker: RunningWorker; freeAtMs: number };

export class CrashWorkers {
  /** How often each request was done, by its id. */
  readonly doneCounts = new Map<string, number>();
  readonly #world: CrashWorld;
  readonly #backend: Server;
  readonly #backendUrl: string;
  readonly #programs = new Map<string, Program>();
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;
  #looking: Promise<void> = Promise.resolve();

  private constructor(world: CrashWorld, backend: Server) {
    this.#world = world;
    this.#backend = backend;
    const { port } = backend.address() as AddressInfo;
    this.#backendUrl = `http://127.0.0.1:${port}`;
  }

  static async open(world: CrashWorld): Promise<CrashWorkers> {
    const backend = createServer().listen(0, "127.0.0.1");
    await once(backend, "listening");
    const workers = new CrashWorkers(world, backend);
    backend.on("request", (request, response) => void workers.#serve(request, response));
    workers.#looking = workers.#keepLooking();
    return workers;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
    for (const key of this.#programs.keys()) this.#end(key);
    await Promise.all(this.#ending);
    this.#backend.closeAllConnections();
    await new Promise((resolve) => this.#backend.close(resolve));
  }

  async #keepLooking(): Promise<void> {
    for (; !this.#isClosed; await delay(LOOK_EVERY_MS)) {
      const running = new Map(this.#world.running().map((one) => [keyOf(one), one]));
      for (const key of this.#programs.keys()) if (!running.has(key)) this.#end(key);
      for (const [key, container] of running) if (!this.#programs.has(key)) await this.#begin(key, container);
    }
  }

  async #begin(key: string, { spec }: RunningContainer): Promise<void> {
    const [binding] = spec.ports;
    if (binding === undefined) return;
    const port = String(binding.hostPort);
    // A container has no network of its own here: its program listens at the port from which a host would forward
    // requests. By default it would take the next port too, which may be another worker's; sessions, which need that
    // port, are not used.
    const taken = new URL(this.#backendUrl).port;
    const own = {
      ...{ WORKER_PORT: port, WORKER_HTTP_PORT: taken },
      ...{ [`VAST_TCP_PORT_${port}`]: port, REPORT_ADDR: this.#world.berth.url },
    };
    try {
      const worker = await startWorker({
        ...{ backendUrl: `${this.#backendUrl}/${key}`, routes: ["/work"], healthPath: "/health" },
        ...{ benchmark: { perf: UNITS_PER_SECOND }, maxQueueSeconds: MAX_QUEUE_S, atOnce: 1 },
        calculateLoad: ({ cost }) => cost,
        environment: { ...Object.fromEntries(spec.env), ...own },
        ...{ certificate: undefined, clock: systemClock, newId: () => crypto.randomUUID(), log: () => {} },
      });
      this.#programs.set(key, { key, worker, freeAtMs: 0 });
    } catch (error) {
      // The program before it has not left the port yet: the next look starts this one.
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }

  /** Ends a program at once, with its open requests: a container does not ask before it ends. */
  #end(key: string): void {
    const program = this.#programs.get(key);
    this.#programs.delete(key);
    if (program === undefined) return;
    const ended = program.worker.drain(0).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, key = "", route] = (request.url ?? "").split("/");
    if (route === "health") return void response.end("ok");
    const { id, units } = JSON.parse(await text(request)) as { readonly id: string; readonly units: number };
    const program = this.#programs.get(key);
    const nowMs = performance.now();
    const endMs = Math.max(program?.freeAtMs ?? nowMs, nowMs) + (units / UNITS_PER_SECOND) * 1_000;
    if (program !== undefined) program.freeAtMs = endMs;
    await delay(endMs - nowMs);
    // The program has ended meanwhile.
    if (this.#programs.get(key) !== program) return void response.destroy();
    const count = (this.doneCounts.get(id) ?? 0) + 1;
    this.doneCounts.set(id, count);
    const worker = Number(/^berth-(\d+)/.exec(key)?.[1]);
    const served = { worker, id, run: key, served: 1, repeated: count - 1 };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(served));
  }
}

function keyOf({ spec, startedAtMs }: RunningContainer): string {
  return `${spec.name}-${startedAtMs}`;
}
