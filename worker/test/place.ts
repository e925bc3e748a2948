import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { freePort } from "../../test/support/network/free-port.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { until } from "../../test/support/until.ts";
import { startWorker, type RunningWorker, type WorkerOptions } from "../src/index.ts";
import { signedText } from "../src/signature.ts";

export type Told = Readonly<Record<string, unknown>>;

const KEYS = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const TOKEN = "the-token-of-the-worker";

/** A server that records the reports of a worker, and that can refuse them. */
export class RecordingServer {
  readonly statuses: Told[] = [];
  readonly finished: Told[] = [];
  /** The status with which it refuses reports; undefined accepts them. */
  refusal: number | undefined;
  keyFetches = 0;
  attempts = 0;
  #url = "";

  static async listen(t: TestContext): Promise<RecordingServer> {
    const recording = new RecordingServer();
    recording.#url = await listen(t, createServer(recording.listener));
    return recording;
  }

  readonly listener: RequestListener = (request, response) => void this.#take(request, response);

  get url(): string {
    return this.#url;
  }

  get last(): Told {
    return this.statuses.at(-1) ?? {};
  }

  /** The requests that were reported as done, with their status. */
  get done(): readonly string[] {
    return this.finished.map((one) => `${String(one["request_idx"])} ${String(one["status"])}`);
  }

  async #take(...[request, response]: Parameters<RequestListener>): Promise<void> {
    if (request.url === "/pubkey/") {
      this.keyFetches += 1;
      response.end(KEYS.publicKey.export({ type: "spki", format: "pem" }));
      return;
    }
    const body = JSON.parse(await text(request)) as Told;
    this.attempts += 1;
    if (this.refusal !== undefined) return void response.writeHead(this.refusal).end();
    if (request.url === "/worker_status/") this.statuses.push(body);
    else this.finished.push(...(body["requests"] as Told[]));
    response.end('{"success":true}');
  }
}

export async function listen(t: TestContext, server: Server): Promise<string> {
  // After a pause of this process, a limit could close an idle connection in the moment that it is used.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return urlOf(server);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export type Place = {
  readonly clock: ManualClock;
  readonly server: RecordingServer;
  readonly worker: RunningWorker;
  readonly url: string;
  /** The address at which programs beside the worker end sessions. */
  readonly innerUrl: string;
  readonly log: readonly string[];
  /** Moves the time on, a second at a time, until the condition holds. */
  pass(what: string, isSo: () => unknown): Promise<void>;
  /** Sends a request as a client that was routed here. */
  ask(route: string, given?: AskOptions): Promise<Response>;
};

export type AskOptions = {
  readonly auth?: Readonly<Record<string, unknown>>;
  readonly payload?: unknown;
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
};

/** A worker before a backend, with a server to report to and a clock that the test moves. */
export async function aWorker(
  t: TestContext,
  backend: RequestListener,
  given: Partial<WorkerOptions> & { readonly variables?: Readonly<Record<string, string>> } = {},
): Promise<Place> {
  const { variables, ...options } = given;
  const clock = new ManualClock();
  const server = await RecordingServer.listen(t);
  const backendUrl = await listen(t, createServer(backend));
  const [port, innerPort] = [await freePort(), await freePort()];
  const log: string[] = [];
  const worker = await startWorker({
    ...{ backendUrl, routes: ["/work"], healthPath: "/health", benchmark: { perf: 100 }, maxQueueSeconds: 30 },
    ...{ atOnce: Number.POSITIVE_INFINITY, certificate: undefined, clock, newId: () => "session-1" },
    calculateLoad: ({ cost }) => cost,
    log: (line) => log.push(line),
    environment: {
      ...{ CONTAINER_ID: "7", MASTER_TOKEN: TOKEN, REPORT_ADDR: server.url, PUBLIC_IPADDR: "127.0.0.1" },
      ...{ WORKER_PORT: String(port), [`VAST_TCP_PORT_${port}`]: String(port) },
      ...{ WORKER_HTTP_PORT: String(innerPort), ...variables },
    },
    ...options,
  });
  t.after(() => worker.drain(0));
  const { url } = worker;
  return {
    ...{ clock, server, worker, url, innerUrl: `http://127.0.0.1:${innerPort}`, log },
    pass: (what, isSo) => pass(clock, what, isSo),
    ask: (route, { auth, payload = {}, sessionId, signal } = {}) =>
      fetch(`${url}${route}`, {
        method: "POST",
        ...(signal ? { signal } : {}),
        body: JSON.stringify({ auth_data: authFor(url, auth), session_id: sessionId ?? null, payload }),
      }),
  };
}

/** A worker as from `aWorker`, once it has reported to be ready. */
export async function aReadyWorker(...given: Parameters<typeof aWorker>): Promise<Place> {
  const place = await aWorker(...given);
  assert.equal(await place.worker.ready, true);
  await place.pass("the report of being ready", () => place.server.last["max_perf"] === 100);
  return place;
}

function pass(clock: ManualClock, what: string, isSo: () => unknown): Promise<void> {
  return until(what, () => {
    if (isSo()) return true;
    clock.advance(1_000);
    return false;
  }).then(() => undefined);
}

/** The router's fields for requests, numbered in order. */
export function authFor(url: string, changes: Readonly<Record<string, unknown>> = {}): object {
  const signature = sign("sha256", Buffer.from(signedText(url)), KEYS.privateKey).toString("base64");
  const own = { cost: 10, endpoint: "e", reqnum: 1, request_idx: 1, signature, url, expires_at: 4_102_444_800 };
  const said = { ...own, __request_id: "x", ...changes };
  const { endpoint, cost, reqnum, request_idx: requestIdx, expires_at: expiresAt } = said;
  const text = JSON.stringify(["berth ticket", endpoint, said.url, cost, reqnum, requestIdx, expiresAt]);
  return { ticket: createHmac("sha256", TOKEN).update(text).digest("base64url"), ...said };
}

/** A healthy backend that answers with the body that it got. */
export const echo: RequestListener = (request, response) => {
  void text(request).then((body) => response.writeHead(200, { "x-own": "kept" }).end(`${request.url} ${body}`));
};
