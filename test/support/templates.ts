import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { systemClock } from "../../server/src/base/clock.ts";
import type { Identity, PermissionDocument } from "../../server/src/base/identity.ts";
import { createLog } from "../../server/src/base/log.ts";
import { createEncryption } from "../../server/src/base/encryption.ts";
import { requireReachableRegistry } from "../../server/src/domains/supply/hosts/index.ts";
import { createRegistryClient, templateRoutes } from "../../server/src/domains/rental/templates/index.ts";
import { DEFAULT_LIMITS } from "../../server/src/http/rate-limit.ts";
import { NO_PROXIES } from "../../server/src/http/trusted-proxies.ts";
import { createHttp } from "../../server/src/http/server.ts";
import { aCaller, type TestCaller } from "./fixtures.ts";
import { testDatabase } from "./database/postgres.ts";

export type Body = Readonly<Record<string, unknown>>;
export type Answer = { readonly status: number; readonly body: Body; readonly text: string };

type CallOptions = {
  readonly body?: unknown;
  readonly query?: Body;
  readonly headers?: Record<string, string>;
  readonly version?: "v0" | "v1";
};

/** The template routes over a database of their own, for callers with keys. */
export async function templatesApi(t: TestContext) {
  const { database } = await testDatabase(t);
  const identities = new Map<string, Identity>();
  const logged: string[] = [];
  const scope = createHttp({
    database,
    clock: systemClock,
    log: createLog("trace", { write: (line) => void logged.push(line) }),
    limits: { ...DEFAULT_LIMITS, default: { perSecond: 1e6, burst: 1e6 } },
    authenticate: async (secret) => identities.get(secret),
    onAuthenticated: () => {},
    trustedProxies: NO_PROXIES,
  });
  const encryption = createEncryption(randomBytes(32), randomBytes);
  const registries = createRegistryClient({ clock: systemClock, resolve: async () => [], isPrivateAllowed: false });
  templateRoutes(scope, { encryption, registries, requireRegistry: requireReachableRegistry });
  t.after(() => scope.app.close());
  const caller = async (permissions?: PermissionDocument): Promise<TestCaller> => {
    const made = await aCaller(database, permissions === undefined ? {} : { permissions });
    identities.set(made.secret, made.identity);
    return made;
  };
  const call = async (
    method: "GET" | "POST" | "PUT" | "DELETE",
    by: TestCaller | undefined,
    { body, query, headers, version = "v0" }: CallOptions = {},
  ): Promise<Answer> => {
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query ?? {})) {
      search.set(key, typeof value === "string" ? value : JSON.stringify(value));
    }
    const response = await scope.app.inject({
      method,
      url: `/api/${version}/template/?${search.toString()}`,
      headers: {
        ...(by === undefined ? {} : { authorization: `Bearer ${by.secret}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    assert.equal(response.headers["content-type"], "application/json");
    return { status: response.statusCode, body: response.json(), text: response.body };
  };
  const create = async (by: TestCaller, fields: Body = {}): Promise<Body> => {
    const answer = await call("POST", by, { body: { name: "t", image: "ubuntu", ...fields } });
    assert.equal(answer.status, 200, answer.text);
    return templateOf(answer);
  };
  const search = async (by: TestCaller, filters: unknown, more: Body = {}): Promise<readonly Body[]> => {
    const answer = await call("GET", by, { query: { select_filters: filters, ...more } });
    assert.equal(answer.status, 200, answer.text);
    return templatesOf(answer);
  };
  return { database, encryption, caller, call, create, search, logged };
}

function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null;
}

/** The one template of an answer. */
export function templateOf({ body }: Answer): Body {
  const template = body["template"];
  assert.ok(isBody(template));
  return template;
}

/** The templates that a search found. */
export function templatesOf({ body }: Answer): readonly Body[] {
  const templates = body["templates"];
  assert.ok(Array.isArray(templates) && templates.every(isBody));
  return templates;
}
