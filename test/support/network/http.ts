import { randomBytes } from "node:crypto";
import { systemClock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import { createIdentities, type Identities } from "../../../server/src/domains/people/accounts/keys/identities.ts";
import { createIpHistory, type IpHistory } from "../../../server/src/domains/people/accounts/ip-history/ip-history.ts";
import type { Limit, Limits } from "../../../server/src/http/rate-limit.ts";
import { NO_PROXIES } from "../../../server/src/http/trusted-proxies.ts";
import { createHttp, type HttpDependencies, type HttpScope } from "../../../server/src/http/server.ts";

const UNMET: Limit = { perSecond: 1_000_000, burst: 1_000_000 };
export const NO_LIMITS: Limits = { default: UNMET, keys: UNMET, money: UNMET, operations: {} };

export type TestCall = {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "OPTIONS";
  readonly url: string;
  /** The bearer key of the request. */
  readonly secret?: string | undefined;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** The body as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
};

export type TestAnswer = {
  readonly status: number;
  // Tests assert the form of the body themselves.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, unknown>>;
};

export type TestHttp = {
  readonly scope: HttpScope;
  readonly identities: Identities;
  readonly ipHistory: IpHistory;
  /** Everything that was logged, one JSON object per line. */
  readonly logged: readonly string[];
  call(call: TestCall): Promise<TestAnswer>;
};

/** The real HTTP server over a test database, without a socket, with the routes that `register` adds. */
export async function testHttp(
  database: Database,
  register: (scope: HttpScope, parts: Pick<TestHttp, "identities" | "ipHistory">) => void,
  {
    clock = systemClock,
    limits = NO_LIMITS,
    trustedProxies = NO_PROXIES,
    draining,
  }: Partial<Pick<HttpDependencies, "clock" | "limits" | "trustedProxies" | "draining">> = {},
): Promise<TestHttp> {
  const logged: string[] = [];
  const log = createLog("trace", { write: (line) => void logged.push(line) });
  const identities = createIdentities({ database, clock, random: randomBytes });
  const ipHistory = createIpHistory({ database, clock, log });
  const scope = createHttp({
    database,
    clock,
    log,
    limits,
    authenticate: (secret, pause) => identities.authenticate(secret, pause),
    onAuthenticated: (identity, { ipAddress }) => ipHistory.record(identity, ipAddress),
    trustedProxies,
    draining,
  });
  void scope.app.register(async () => register(scope, { identities, ipHistory }));
  await scope.app.ready();
  return { scope, identities, ipHistory, logged, call: (call) => inject(scope, call) };
}

/** Sends one request, in memory. */
export async function inject(scope: HttpScope, call: TestCall): Promise<TestAnswer> {
  const { method = "GET", url, secret, body, text, headers = {}, from = "192.0.2.1" } = call;
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await scope.app.inject({
    method,
    url,
    remoteAddress: from,
    headers: {
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  });
  const isJson = String(response.headers["content-type"]).startsWith("application/json") && response.body !== "";
  return {
    status: response.statusCode,
    body: isJson ? JSON.parse(response.body) : undefined,
    text: response.body,
    bytes: response.rawPayload,
    headers: response.headers,
  };
}
