import { systemTimer, type Timer } from "./timer.ts";

const TIMEOUT_MS = 30_000;
const ATTEMPTS_MAX = 4;
const FIRST_DELAY_MS = 150;
/**
 * The longest `Retry-After` that a call waits for; a longer one is left to the caller, since no call should hang for
 * minutes.
 */
const DELAY_MS_MAX = 20_000;
const TOO_MANY_REQUESTS = 429;
/** Statuses of a busy or starting server, or of a proxy before it: the same request may succeed a moment later. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([TOO_MANY_REQUESTS, 502, 503, 504]);

export type ClientOptions = {
  /**
   * The address of the server, with or without a final slash: `http://127.0.0.1:8080`, or the addresses of several
   * servers over one database: when one is away the client uses the next one, and stays there. Each server gets the
   * key.
   */
  readonly baseUrl: string | readonly string[];
  /** Sent as bearer key; only public operations work without one. */
  readonly apiKey?: string;
  /** The time limit of one attempt, not of all attempts together. */
  readonly timeoutMs?: number;
  /** Attempts at each server; 1 turns repetition off, and with it the change to the next server. */
  readonly attemptsMax?: number;
  readonly fetch?: typeof fetch;
  readonly timer?: Timer;
};

export type QueryValue = string | number | boolean | object | undefined;

/** One request as the generated operations state it. */
export type Call = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  /** Starts with a slash; its parameters are already filled in. */
  readonly path: string;
  /** Objects and lists travel as JSON text. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  readonly body?: unknown;
};

export type CallOptions = {
  /** Names this one effect, so that a repetition of it, even from another process, changes nothing. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

export type Client = {
  /** Returns the parsed answer. Throws `ApiError` for a refusal and `ConnectionError` when no answer came. */
  request<T>(call: Call, options?: CallOptions): Promise<T>;
  /** Returns the bytes of an answer that is no JSON, such as a PDF. */
  download(call: Call, options?: CallOptions): Promise<Uint8Array>;
  /** Returns the body of an answer as it arrives, for as long as it lasts. The time limit is that of its beginning. */
  stream(call: Call, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
};

/** The server understood the request and refused it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Stable and machine-readable, such as `no_such_ask`. */
  readonly code: string;
  /** One sentence for people. */
  readonly msg: string;
  readonly requestId: string | undefined;
  /** The whole answer, with further keys of this refusal. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>, requestId: string | undefined) {
    const msg = textOf(body["msg"]) ?? textOf(body["detail"]) ?? `the server answered with status ${status}`;
    super(msg);
    this.status = status;
    this.code = textOf(body["error"]) ?? (status === 429 ? "rate_limited" : `http_${status}`);
    this.msg = msg;
    this.requestId = textOf(body["request_id"]) ?? requestId;
    this.body = body;
  }
}

/** No answer came: the server is not there, the network broke, or the time ran out. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/**
 * A client of one server, or of several over one database. It repeats requests where that is safe, at any of the
 * servers; every call except GET carries an idempotency key, under which all servers together carry it out once.
 */
export function createClient(options: ClientOptions): Client {
  const { attemptsMax = ATTEMPTS_MAX, timer = systemTimer } = options;
  const servers = new ServerChoice(options.baseUrl);

  async function send<T>(call: Call, { idempotencyKey, signal }: CallOptions, read: Read<T>): Promise<T> {
    const key = call.method === "GET" ? undefined : (idempotencyKey ?? randomKey());
    const away = new Map<string, Error>();
    let delays = 0;
    for (let attempt = 1; ; attempt += 1) {
      const server = servers.present;
      const outcome = await attemptOnce<T>(options, call, { server, key, signal, read });
      if (outcome.kind === "answer") return outcome.value;
      if (outcome.isAway) {
        away.set(server, outcome.error);
        servers.leave(server);
      }
      const isFinal = !outcome.isRetryable || attemptsMax === 1 || attempt >= attemptsMax * servers.count;
      if (isFinal || signal?.aborted) throw outcome.isAway ? summaryOf(away, outcome.error) : outcome.error;
      // The next server is asked at once; all of them are given time to come back.
      if (outcome.isAway && attempt % servers.count !== 0) continue;
      const delayMs = outcome.retryAfterMs ?? FIRST_DELAY_MS * 2 ** delays;
      if (delayMs > DELAY_MS_MAX) throw outcome.error;
      delays += 1;
      await timer.sleep(delayMs, signal);
    }
  }

  return {
    request: <T>(call: Call, callOptions: CallOptions = {}) =>
      send<T>(call, callOptions, async (response) => readAnswer<T>(response, await response.text())),
    download: (call, callOptions = {}) => send(call, callOptions, readBytes),
    stream: (call, callOptions = {}) => send(call, callOptions, readBody),
  };
}

/** The servers of a client, and the one that its calls go to. */
class ServerChoice {
  readonly #urls: readonly string[];
  #index = 0;

  constructor(baseUrl: string | readonly string[]) {
    this.#urls = typeof baseUrl === "string" ? [baseUrl] : baseUrl;
    if (this.#urls.length === 0) throw new TypeError("the address of a server is needed");
    if (this.#urls.length === 1) return;
    const protocols = new Set(this.#urls.map((url) => new URL(url).protocol));
    // An attacker on the network could break connections to the https server, and read the key on its way to the http
    // one.
    if (protocols.size > 1) throw new TypeError("either all addresses of servers begin with https, or none of them");
  }

  get count(): number {
    return this.#urls.length;
  }

  get present(): string {
    return this.#urls[this.#index] ?? "";
  }

  /** Calls go to the next server from now on, unless another call has found out before. */
  leave(server: string): void {
    if (server === this.present) this.#index = (this.#index + 1) % this.#urls.length;
  }
}

/** The error when all servers are away: the answer of one server says more than the silence of the others. */
function summaryOf(away: ReadonlyMap<string, Error>, last: Error): Error {
  if (away.size <= 1) return last;
  const errors = [...away.values()];
  return errors.find((error) => error instanceof ApiError) ?? new ConnectionError(messagesOf(errors), { cause: last });
}

function messagesOf(errors: readonly Error[]): string {
  return errors.map(({ message }) => message).join("; ");
}

type Read<T> = (response: Response) => Promise<Outcome<T>>;

type Outcome<T> =
  | { readonly kind: "answer"; readonly value: T }
  | {
      readonly kind: "failure";
      readonly error: Error;
      readonly isRetryable: boolean;
      /** True when the server is away or cannot work now, so that another one is worth a try. */
      readonly isAway: boolean;
      readonly retryAfterMs?: number;
    };

async function attemptOnce<T>(
  options: ClientOptions,
  call: Call,
  {
    server,
    key: idempotencyKey,
    signal,
    read,
  }: {
    readonly server: string;
    readonly key: string | undefined;
    readonly signal: AbortSignal | undefined;
    readonly read: Read<T>;
  },
): Promise<Outcome<T>> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const untilAnswer = new AbortController();
  const giveUp = () => untilAnswer.abort(timeout.reason);
  timeout.addEventListener("abort", giveUp);
  const url = `${server.replace(/\/+$/, "")}${call.path}${queryText(call.query)}`;
  const headers: Record<string, string> = { accept: "application/json" };
  if (options.apiKey !== undefined) headers["authorization"] = `Bearer ${options.apiKey}`;
  if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
  if (call.body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await (options.fetch ?? fetch)(url, {
      method: call.method,
      headers,
      signal: signal === undefined ? untilAnswer.signal : AbortSignal.any([untilAnswer.signal, signal]),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    // A body that is read as it arrives may take as long as it likes.
    if (read === readBody) timeout.removeEventListener("abort", giveUp);
    return await read(response);
  } catch (error) {
    if (signal?.aborted) throw error;
    const reason = timeout.aborted ? "it did not answer in time" : describeCause(error);
    const message = `cannot reach ${server}: ${reason}`;
    const failure = new ConnectionError(message, { cause: error });
    return { kind: "failure", error: failure, isRetryable: true, isAway: true };
  }
}

/** Hands out a body that has only begun to arrive. */
async function readBody(response: Response): Promise<Outcome<ReadableStream<Uint8Array>>> {
  if (!response.ok || response.body === null) return readAnswer(response, await response.text());
  return { kind: "answer", value: response.body };
}

/** Reads a refusal, which is JSON also where the answer would be something else. */
async function readBytes(response: Response): Promise<Outcome<Uint8Array>> {
  if (!response.ok) return readAnswer(response, await response.text());
  return { kind: "answer", value: new Uint8Array(await response.arrayBuffer()) };
}

function readAnswer<T>(response: Response, text: string): Outcome<T> {
  const value = parseJson(text);
  if (response.ok && value !== undefined) return { kind: "answer", value: value as T };
  const body = typeof value === "object" && value !== null ? { ...value } : {};
  const error = response.ok
    ? new ConnectionError("the server's answer is not JSON; is the address that of a Berth server?")
    : new ApiError(response.status, body, response.headers.get("x-request-id") ?? undefined);
  const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
  const isRetryable = RETRIED_STATUSES.has(response.status);
  const isAway = isRetryable && response.status !== TOO_MANY_REQUESTS;
  return { kind: "failure", error, isRetryable, isAway, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Reads `Retry-After` in seconds; the form with a date, which the server never sends, would need clocks that agree. */
function parseRetryAfter(text: string | null): number | undefined {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function queryText(query: Call["query"]): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The reason of a failed connection, which runtimes hide in `cause`. */
function describeCause(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * A random idempotency key, written as a UUID. Browsers have `crypto.randomUUID` only at pages that came by TLS or from their
 * own machine.
 */
function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  // The version of random UUIDs, and their variant.
  const [version, variant] = [`4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`];
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20)].join("-");
}
