import { randomBytes, randomUUID } from "node:crypto";
import { systemClock, type Clock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import { createIdentities } from "../../../server/src/domains/people/accounts/for-assembly.ts";
import { DEFAULT_LIMITS } from "../../../server/src/http/rate-limit.ts";
import { NO_PROXIES } from "../../../server/src/http/trusted-proxies.ts";
import { createHttp, type HttpScope } from "../../../server/src/http/server.ts";

type Answer = {
  readonly status: number;
  // Tests name the members they expect; a missing one fails the assertion on it. Empty for an answer that is no JSON.
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
};

type Caller = { readonly secret: string };
type Call = {
  readonly as?: Caller;
  readonly body?: unknown;
  /** Sent as Idempotency-Key. */
  readonly key?: string;
};

type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Served = {
  call(method: Method, path: string, options?: Call): Promise<Answer>;
  close(): Promise<void>;
};

/** The real HTTP layer with only these routes, without limits that a test could meet, called in memory. */
export async function serveRoutes(
  database: Database,
  addRoutes: (scope: HttpScope) => void,
  clock: Clock = systemClock,
): Promise<Served> {
  const identities = createIdentities({ database, clock, random: randomBytes });
  const unlimited = { perSecond: 1e6, burst: 1e6 };
  const scope = createHttp({
    database,
    clock,
    log: createLog("silent"),
    limits: { ...DEFAULT_LIMITS, default: unlimited, keys: unlimited, money: unlimited },
    authenticate: (secret) => identities.authenticate(secret),
    onAuthenticated: () => {},
    trustedProxies: NO_PROXIES,
  });
  addRoutes(scope);
  await scope.app.ready();
  return {
    async call(method, path, { as, body, key } = {}) {
      const response = await scope.app.inject({
        method,
        url: path,
        headers: {
          ...(as === undefined ? {} : { authorization: `Bearer ${as.secret}` }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      const isJson = response.headers["content-type"] === "application/json";
      return {
        status: response.statusCode,
        body: isJson ? response.json() : {},
        text: response.body,
        bytes: response.rawPayload,
        headers: response.headers,
      };
    },
    close: () => scope.app.close(),
  };
}

/** An Idempotency-Key that nobody used. */
export function aRequestKey(): string {
  return randomUUID();
}
