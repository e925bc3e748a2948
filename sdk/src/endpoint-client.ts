// Requests to the workers of an endpoint (docs/endpoints.md#calling-it): ask for a worker, send the request there, and
// ask again when that worker could not take it.
import { ApiError, ConnectionError, createClient, type Client } from "./client.ts";
import { routeRequest, type RouteRequestAnswer } from "./operations.ts";
import { systemTimer, type Timer } from "./timer.ts";

/** The server holds a request for five seconds before it says that there is no worker yet. */
const ROUTE_TIMEOUT_MS = 10_000;
const TIMEOUT_MS = 600_000;
const REPLAY_TIMEOUT_S = 60;
const FIRST_DELAY_MS = 1_000;
const MAX_POLL_INTERVAL_MS = 5_000;
/** The first time that a worker does not serve a request, another one is asked for at once. */
const AGAIN_DELAY_MS = 200;

export type EndpointOptions = {
  /** The address of the server, or the addresses of several servers over one database. */
  readonly baseUrl: string | readonly string[];
  /** The endpoint's name, and its own key. */
  readonly endpoint: string;
  readonly endpointKey: string;
  readonly maxPollIntervalMs?: number;
  readonly fetch?: typeof fetch;
  readonly timer?: Timer;
  /** From 0 to below 1. */
  readonly random?: () => number;
};

export type EndpointRequest = {
  /** The path at the worker, such as `/v1/completions`. */
  readonly route: string;
  /** The work of the request in units of load. */
  readonly cost: number;
  readonly payload: unknown;
  /** The id of a session with a worker; it is passed on unchanged. */
  readonly sessionId?: string;
  /** The time limit for everything: the wait for a worker, refusals by workers, and the answer. */
  readonly timeoutMs?: number;
  readonly replayTimeoutS?: number;
  /** The answer is returned when it begins; otherwise when all of it is there. */
  readonly isStream?: boolean;
  /** Called with the reason for the wait each time that the server gives one. */
  readonly onStatus?: (status: string) => void;
  readonly signal?: AbortSignal;
};

export type EndpointAnswer = {
  /** The worker's own answer. */
  readonly response: Response;
  /** The address of the worker, and the request number at the endpoint. */
  readonly workerUrl: string;
  readonly requestIdx: number;
};

type Ready = RouteRequestAnswer & { readonly url: string };
type Attempt =
  | { readonly kind: "answer"; readonly response: Response }
  | { readonly kind: "again"; readonly reason: string };

/**
 * Sends one request to a worker of the endpoint. Throws `ApiError` when the server or the worker refuses it for good, and
 * `ConnectionError` when the time ran out.
 */
export async function callEndpoint(options: EndpointOptions, request: EndpointRequest): Promise<EndpointAnswer> {
  const { timer = systemTimer } = options;
  const { timeoutMs = TIMEOUT_MS } = request;
  const over = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? over : AbortSignal.any([over, request.signal]);
  const router = createClient({
    baseUrl: options.baseUrl,
    apiKey: options.endpointKey,
    timeoutMs: ROUTE_TIMEOUT_MS,
    // A repeated request carries the request number of the last answer.
    attemptsMax: 1,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const progress: Progress = { requestIdx: 0, reason: "no worker was found" };
  try {
    for (let refusals = 0; ; refusals += 1) {
      if (refusals > 1) {
        await timer.sleep(Math.min(AGAIN_DELAY_MS * 2 ** (refusals - 2), intervalOf(options)), signal);
      }
      const ready = await findWorker({ options, request, router, signal }, progress);
      const attempt = await askWorker(ready, { options, request, signal });
      if (attempt.kind === "answer") {
        return { response: attempt.response, workerUrl: ready.url, requestIdx: ready.request_idx };
      }
      progress.reason = attempt.reason;
    }
  } catch (error) {
    if (!over.aborted || request.signal?.aborted === true) throw error;
    const message = `no answer within ${Math.round(timeoutMs / 1000)} s: ${progress.reason}`;
    throw new ConnectionError(message, { cause: error });
  }
}

/** The number of a request, and the reason why it has no answer yet. */
type Progress = { requestIdx: number; reason: string };

type Means = {
  readonly options: EndpointOptions;
  readonly request: EndpointRequest;
  readonly router: Client;
  readonly signal: AbortSignal;
};

/** Asks until there is a worker, less and less often; the server keeps the place in the queue in between. */
async function findWorker({ options, request, router, signal }: Means, progress: Progress): Promise<Ready> {
  const { timer = systemTimer, random = Math.random } = options;
  for (let polls = 0; ; polls += 1) {
    signal.throwIfAborted();
    const answer = await route(router, { options, request, signal }, progress);
    if (answer !== undefined) {
      progress.requestIdx = answer.request_idx;
      const { url } = answer;
      if (url !== undefined) return { ...answer, url };
      progress.reason = answer.status ?? progress.reason;
      request.onStatus?.(progress.reason);
    }
    const delayMs =
      polls === 0 ? FIRST_DELAY_MS : random() * Math.min(FIRST_DELAY_MS * 2 ** polls, intervalOf(options));
    await timer.sleep(Math.min(delayMs, intervalOf(options)), signal);
  }
}

/** The answer of the server; undefined when it is away or busy and the caller should ask again. */
async function route(
  router: Client,
  { options, request, signal }: Omit<Means, "router">,
  progress: Progress,
): Promise<RouteRequestAnswer | undefined> {
  const body = {
    endpoint: options.endpoint,
    api_key: options.endpointKey,
    cost: request.cost,
    request_idx: progress.requestIdx,
    replay_timeout: request.replayTimeoutS ?? REPLAY_TIMEOUT_S,
  };
  try {
    return await routeRequest(router, { body }, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    const isPassing = error instanceof ConnectionError || (error instanceof ApiError && mayPass(error.status));
    if (!isPassing) throw error;
    progress.reason = error.message;
    return undefined;
  }
}

async function askWorker(ready: Ready, { options, request, signal }: Omit<Means, "router">): Promise<Attempt> {
  const body = { auth_data: ready, session_id: request.sessionId ?? null, payload: request.payload };
  try {
    const response = await (options.fetch ?? fetch)(new URL(request.route, ready.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal,
    });
    if (mayPass(response.status)) {
      await response.body?.cancel();
      return { kind: "again", reason: `the worker answered with status ${response.status}` };
    }
    if (!response.ok) throw await refusalOf(response);
    return { kind: "answer", response: request.isStream === true ? response : await wholeOf(response) };
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    return { kind: "again", reason: `the worker could not be reached: ${describe(error)}` };
  }
}

/** The same request may succeed a moment later, or elsewhere. */
function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

async function wholeOf(response: Response): Promise<Response> {
  const { status, headers } = response;
  return new Response(await response.arrayBuffer(), { status, headers });
}

async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null)
      return new ApiError(response.status, { detail: text, ...body }, undefined);
  } catch {
    // A text that is no JSON is the message itself.
  }
  return new ApiError(response.status, { detail: text }, undefined);
}

function intervalOf({ maxPollIntervalMs = MAX_POLL_INTERVAL_MS }: EndpointOptions): number {
  return maxPollIntervalMs;
}

/** The reason of a failed connection, which runtimes hide in `cause`. */
function describe(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
