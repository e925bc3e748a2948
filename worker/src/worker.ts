import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { Admission } from "./admission.ts";
import { answer } from "./answers.ts";
import { Backend, describe } from "./backend.ts";
import { measure, type Benchmark } from "./benchmark.ts";
import { Bodies, BODY_LIMITS } from "./bodies.ts";
import type { Clock } from "./clock.ts";
import { readEnvironment, type WorkerEnvironment } from "./environment.ts";
import type { Log } from "./log.ts";
import { Reporter } from "./reporter.ts";
import { RequestDesk, type CalculateLoad } from "./request-desk.ts";
import { ServerConnection } from "./server-connection.ts";
import { SESSION_ROUTES, SessionDesk } from "./session-desk.ts";
import { Sessions } from "./sessions.ts";
import { SigningKey } from "./signature.ts";
import { Turns } from "./turns.ts";
import { Workload } from "./workload.ts";

export type WorkerOptions = {
  /** The program that does the work, such as `http://127.0.0.1:8000`. */
  readonly backendUrl: string;
  /** Paths of the backend that requests may name. */
  readonly routes: readonly string[];
  /** The path that answers below 400 once the backend can work. */
  readonly healthPath: string;
  /** The benchmark of the backend, or its known performance. */
  readonly benchmark: Benchmark | { readonly perf: number };
  readonly calculateLoad: CalculateLoad;
  /** A request that would have to wait longer is refused. */
  readonly maxQueueSeconds: number;
  /** Requests that the backend is given at a time. */
  readonly atOnce: number;
  /** The variables of the worker's process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly certificate: WorkerCertificate | undefined;
  /** Reads the certificate again: it is renewed while the worker runs. */
  readonly readCertificate?: () => WorkerCertificate | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Log;
};

export type WorkerCertificate = { readonly cert: string; readonly key: string };

export type RunningWorker = {
  /** The public URL for requests. */
  readonly url: string;
  /** True once the backend is ready; false when it failed, which was reported. */
  readonly ready: Promise<boolean>;
  /** Takes no new requests, finishes those that it has, reports them and ends; after `limitMs` it ends at once. */
  drain(limitMs: number): Promise<void>;
};

const POLL_MS = 1_000;
const HEALTH_EVERY_MS = 10_000;
/** A ready backend fails after this many health checks in a row without an answer. */
const HEALTH_FAILURES = 3;

/** Serves a backend as a worker of an endpoint group. Throws when the variables do not identify the worker. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { environment: variables, certificate, clock, log } = options;
  const read = readEnvironment(variables, certificate !== undefined);
  if (read.ok) return new Worker(options, read.environment).begin();
  const problem = read.problems.join("; ");
  if (read.speaker !== undefined) {
    const { id, token, reportAddresses: addresses } = read.speaker;
    const connection = new ServerConnection({ addresses, clock, log, ended: new AbortController().signal });
    await connection.post("/worker_status/", { id, mtoken: token, version: "", error_msg: problem, url: "" });
  }
  throw new Error(problem);
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #environment: WorkerEnvironment;
  readonly #ended = new AbortController();
  readonly #backend: Backend;
  readonly #workload = new Workload();
  readonly #reporter: Reporter;
  readonly #admission: Admission;
  readonly #desk: RequestDesk;
  readonly #sessionDesk: SessionDesk;
  #suspicion = new AbortController();
  #isEnding = false;

  constructor(options: WorkerOptions, environment: WorkerEnvironment) {
    const { clock, log, atOnce, maxQueueSeconds, calculateLoad, newId } = options;
    this.#options = options;
    this.#environment = environment;
    this.#backend = new Backend(options.backendUrl, clock);
    const [workload, ended] = [this.#workload, this.#ended.signal];
    const connection = new ServerConnection({ addresses: environment.reportAddresses, clock, log, ended });
    const key = new SigningKey(() => connection.fetchKey(), clock);
    this.#reporter = new Reporter({ connection, clock, environment, workload, ended });
    this.#admission = new Admission({ environment, key, workload, maxQueueSeconds });
    this.#desk = new RequestDesk({
      ...{ admission: this.#admission, backend: this.#backend, workload, turns: new Turns(atOnce) },
      ...{
        bodies: new Bodies(BODY_LIMITS),
        sessions: new Sessions(),
        reporter: this.#reporter,
        clock,
        log,
        calculateLoad,
      },
      isUnsecured: environment.isUnsecured,
      onBackendFailure: () => this.#suspicion.abort(),
    });
    this.#sessionDesk = new SessionDesk(this.#desk, newId);
  }

  async begin(): Promise<RunningWorker> {
    const { certificate, log, routes } = this.#options;
    const { port, isSecure, url } = this.#environment;
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    const options = { keepAliveTimeout: KEEP_ALIVE_MS };
    const secure = isSecure ? createSecureServer({ ...options, ...certificate }, listener) : undefined;
    const server = secure ?? createServer(options, listener);
    if (secure !== undefined) void this.#renewCertificate(secure);
    server.listen(port);
    await once(server, "listening");
    log(`takes requests for ${routes.join(", ")} at ${url}, port ${port} here`);
    const inner = await this.#openInner();
    this.#reporter.begin();
    const ready = this.#getReady();
    void ready.then((isReady) => (isReady ? this.#watch() : undefined));
    void this.#expireSessions();
    return { url, ready, drain: (limitMs) => this.#drain([server, ...inner], limitMs) };
  }

  /** Uses a renewed certificate for new connections; open ones keep theirs. */
  async #renewCertificate(server: SecureServer): Promise<void> {
    const { certificate, readCertificate, clock, log } = this.#options;
    let used = certificate;
    while (readCertificate !== undefined && !this.#ended.signal.aborted) {
      await clock.sleep(CERTIFICATE_EVERY_MS, this.#ended.signal);
      const next = readCertificate();
      if (next === undefined || (next.cert === used?.cert && next.key === used.key)) continue;
      try {
        server.setSecureContext(next);
        used = next;
        log("answers with its next certificate from now on");
      } catch (error) {
        log(`its next certificate cannot be used: ${describe(error)}`);
      }
    }
  }

  /** The backend ends sessions without TLS, as it knows neither the certificate nor the name in it. */
  async #openInner(): Promise<readonly Server[]> {
    const { innerPort } = this.#environment;
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      const isEnd = (request.url ?? "").split("?")[0] === "/session/end";
      if (isEnd) void this.#serve(request, response);
      else answer(response, 404, { error: "nothing is here" });
    });
    try {
      server.listen(innerPort, "127.0.0.1");
      await once(server, "listening");
      return [server];
    } catch (error) {
      // Without this port sessions end by their clients or by their time, so the worker still serves.
      this.#options.log(`no sessions can be ended at port ${innerPort}: ${describe(error)}`);
      return [];
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const sessionRoute = SESSION_ROUTES.find((route) => route === path);
    try {
      if (request.method !== "POST") answer(response, 404, { error: "nothing is here" });
      else if (path === "/pyworker/update") this.#update(request, response);
      else if (sessionRoute !== undefined) await this.#sessionDesk.serve(sessionRoute, request, response);
      else if (this.#options.routes.includes(path)) await this.#desk.serve(path, request, response);
      else answer(response, 404, { error: "this worker has no such route" });
    } catch (error) {
      this.#options.log(`${path} failed: ${describe(error)}`);
      answer(response, 500, { error: "the worker failed" });
    }
  }

  /** The server is about to recreate this worker: it finishes its requests, and takes no new ones. */
  #update(request: IncomingMessage, response: ServerResponse): void {
    const given = request.headers.authorization ?? "";
    if (!isSame(given, `Bearer ${this.#environment.token}`)) return answer(response, 401, { error: "not the server" });
    this.#admission.state = "draining";
    this.#options.log("the server is about to update this worker: it takes no new requests");
    this.#reporter.changed();
    return answer(response, 200, { ok: true });
  }

  async #getReady(): Promise<boolean> {
    const { clock, log, healthPath, benchmark } = this.#options;
    const startMs = clock.monotonicMs();
    let problem = await this.#backend.findProblem(healthPath);
    if (problem !== undefined) log(`waits for the backend: ${problem.why}`);
    while (problem !== undefined) {
      await clock.sleep(POLL_MS, this.#ended.signal);
      if (this.#ended.signal.aborted) return false;
      problem = await this.#backend.findProblem(healthPath);
    }
    try {
      const perf = "perf" in benchmark ? benchmark.perf : await this.#measure(benchmark);
      const seconds = (clock.monotonicMs() - startMs) / 1000;
      this.#admission.perf = perf;
      if (this.#admission.state === "loading") this.#admission.state = "ready";
      this.#reporter.ready(perf, seconds);
      log(`ready after ${seconds.toFixed(1)} s, at ${perf.toFixed(1)} units a second`);
      return true;
    } catch (error) {
      this.#fail(`the benchmark failed: ${describe(error)}`);
      return false;
    }
  }

  #measure(benchmark: Benchmark): Promise<number> {
    const { clock, log } = this.#options;
    const [backend, signal, workerId] = [this.#backend, this.#ended.signal, this.#environment.id];
    return measure(benchmark, { backend, clock, log, signal, workerId });
  }

  /** Watches the backend, and reports its end to the server, which replaces this worker. */
  async #watch(): Promise<void> {
    const { clock, healthPath } = this.#options;
    let failures = 0;
    while (!this.#ended.signal.aborted && this.#reporter.failure === "") {
      const delayMs = failures > 0 ? POLL_MS : HEALTH_EVERY_MS;
      this.#suspicion = new AbortController();
      await clock.sleep(delayMs, AbortSignal.any([this.#ended.signal, this.#suspicion.signal]));
      const problem = await this.#backend.findProblem(healthPath);
      // A busy backend may have no time for the check. Clients that wait in vain disconnect, and from then on it
      // counts.
      const isBusy = problem?.isSilent === true && this.#workload.workingCount > 0;
      failures = problem === undefined || isBusy ? 0 : failures + 1;
      if (problem === undefined || failures < HEALTH_FAILURES) continue;
      this.#fail(`the backend does not answer: ${problem.why}`);
    }
  }

  /** Reports a failure. While the container ends, the backend may end first, which is no failure of this worker. */
  #fail(failure: string): void {
    if (this.#isEnding) return;
    this.#options.log(failure);
    this.#reporter.fail(failure);
  }

  async #expireSessions(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#options.clock.sleep(POLL_MS, this.#ended.signal);
      await this.#sessionDesk.closeExpired();
    }
  }

  async #drain(servers: readonly Server[], limitMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#isEnding = true;
    this.#admission.state = "draining";
    const endMs = clock.monotonicMs() + limitMs;
    await this.#sessionDesk.closeAll();
    while (this.#workload.workingCount > 0 && clock.monotonicMs() < endMs) await clock.sleep(DRAIN_POLL_MS);
    this.#ended.abort();
    await Promise.all(servers.map(close));
    await this.#reporter.settled();
    await this.#reporter.report();
  }
}

const DRAIN_POLL_MS = 50;
const CERTIFICATE_EVERY_MS = 60_000;
/** Longer than clients keep an idle connection: if this side closed first, the next request on it would be lost. */
const KEEP_ALIVE_MS = 75_000;

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
