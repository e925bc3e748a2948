/** The fields that the router gave the client; they are signed for this worker. */
export type AuthData = {
  readonly cost: number;
  readonly endpoint: string;
  readonly reqnum: number;
  readonly requestIdx: number;
  readonly signature: string;
  readonly url: string;
  /** Seconds since 1970 after which the worker refuses the request. */
  readonly expiresAt: number;
  /** Authenticates the other fields, to this worker alone. */
  readonly ticket: string;
};

export type RoutedRequest = {
  readonly auth: AuthData | undefined;
  /** `auth` as it arrived, with any further fields of the router. */
  readonly authData: unknown;
  readonly sessionId: string | undefined;
  readonly payload: Members;
};

export type Members = Readonly<Record<string, unknown>>;
/** The problem of each invalid field. */
export type Problems = Readonly<Record<string, unknown>>;
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: Problems };

const NUMBERS = ["cost", "reqnum", "request_idx", "expires_at"] as const;
const TEXTS = ["endpoint", "signature", "url", "ticket"] as const;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads the body of a routed request. Unsecured workers do not need the router's fields. */
export function readRouted(text: string, isUnsecured: boolean): Reading<RoutedRequest> {
  const body = parse(text);
  if (!isMembers(body)) return { ok: false, problems: { body: "is not a JSON object" } };
  const { auth_data, session_id: sessionId, payload = {} } = body;
  const auth = auth_data === undefined && isUnsecured ? ({ ok: true, value: undefined } as const) : readAuth(auth_data);
  const problems = {
    ...(auth.ok ? {} : auth.problems),
    ...(isMembers(payload) ? {} : { payload: "is not a JSON object" }),
    ...(sessionId === undefined || sessionId === null || typeof sessionId === "string"
      ? {}
      : { session_id: "is not a text" }),
  };
  if (!auth.ok || !isMembers(payload) || Object.keys(problems).length > 0) return { ok: false, problems };
  const session = typeof sessionId === "string" && sessionId !== "" ? sessionId : undefined;
  return { ok: true, value: { auth: auth.value, authData: auth_data, sessionId: session, payload } };
}

export function readAuth(value: unknown): Reading<AuthData> {
  if (!isMembers(value)) return { ok: false, problems: { auth_data: "field missing" } };
  const { cost, endpoint, reqnum, request_idx: requestIdx, signature, url, expires_at: expiresAt, ticket } = value;
  if (
    isNumber(cost) &&
    typeof endpoint === "string" &&
    isNumber(reqnum) &&
    isNumber(requestIdx) &&
    typeof signature === "string" &&
    typeof url === "string" &&
    isNumber(expiresAt) &&
    typeof ticket === "string"
  ) {
    return { ok: true, value: { cost, endpoint, reqnum, requestIdx, signature, url, expiresAt, ticket } };
  }
  const problemOf = (name: string, isFine: boolean, problem: string) =>
    isFine ? [] : [[name, value[name] === undefined ? "field missing" : problem]];
  const wrong = [
    ...NUMBERS.flatMap((name) => problemOf(name, isNumber(value[name]), "is not a number")),
    ...TEXTS.flatMap((name) => problemOf(name, typeof value[name] === "string", "is not a text")),
  ];
  return { ok: false, problems: { auth_data: Object.fromEntries(wrong) } };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const REMEMBERED = 100_000;

/** Requests that this worker has taken: each ticket is taken once. */
export class UsedTickets {
  readonly #used = new Set<string>();

  isUsed(auth: Pick<AuthData, "requestIdx" | "reqnum">): boolean {
    return this.#used.has(ticketOf(auth));
  }

  use(auth: Pick<AuthData, "requestIdx" | "reqnum">): void {
    this.#used.add(ticketOf(auth));
    const [oldest] = this.#used;
    if (this.#used.size > REMEMBERED && oldest !== undefined) this.#used.delete(oldest);
  }

  /** Allows the ticket again, as its request had no effect. */
  giveBack(auth: Pick<AuthData, "requestIdx" | "reqnum">): void {
    this.#used.delete(ticketOf(auth));
  }
}

function ticketOf({ requestIdx, reqnum }: Pick<AuthData, "requestIdx" | "reqnum">): string {
  return `${requestIdx} ${reqnum}`;
}
