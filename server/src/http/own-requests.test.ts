// Requests of the server to itself: nobody else can make one, and they pass every check that others pass.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Type } from "typebox";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { aCaller } from "../../../test/support/fixtures.ts";
import { NO_LIMITS, testHttp, type TestHttp } from "../../../test/support/network/http.ts";
import type { Identity } from "../base/identity.ts";
import type { Limits } from "./rate-limit.ts";
import { callerOf, type HttpScope } from "./server.ts";

/** Routes that say who called, and that keep the headers of their last request. */
async function anHttp(t: TestContext, limits: Limits = NO_LIMITS) {
  const { database } = await testDatabase(t);
  const seen: (string | undefined)[] = [];
  const register = ({ app }: HttpScope) => {
    const access = { operation: "api.thing.update", permission: "instance_write" } as const;
    app.put(
      "/api/v0/things/:id/",
      { config: { access }, schema: { summary: "x", body: Type.Object({ size: Type.Optional(Type.Integer()) }) } },
      async (request) => {
        seen.push(request.headers.authorization);
        const { identity, ipAddress } = callerOf(request);
        return { success: true, user: identity.userId, key: identity.apiKeyId, ip: ipAddress };
      },
    );
    app.put(
      "/api/v0/things/all/",
      { config: { access: { operation: "api.thing.all", permission: "instance_write" } }, schema: { summary: "y" } },
      async () => ({ success: true }),
    );
  };
  const http = await testHttp(database, register, { limits });
  t.after(() => http.scope.app.close());
  return { http, seen, database, owner: await aCaller(database) };
}

const send = ({ scope }: TestHttp, identity: Identity, body: Readonly<Record<string, unknown>> = {}) =>
  scope.sendAs(identity, { method: "PUT", endpoint: "/api/v0/things/7/", body });

test("the server calls as a key without its secret, and the token is good for that one request", async (t) => {
  const { http, seen, owner, database } = await anHttp(t);
  const answer = await send(http, owner.identity);
  assert.deepEqual(answer, {
    status: 200,
    body: { success: true, user: owner.id, key: owner.key.id, ip: "127.0.0.1" },
    retryAfterMs: undefined,
  });
  const [token = ""] = seen;
  assert.match(token, /^Own .{43}$/);
  for (const authorization of [token, "Own x", "Own ", "own undefined", "Own undefined"]) {
    const stolen = await http.call({ method: "PUT", url: "/api/v0/things/7/", body: {}, headers: { authorization } });
    assert.equal(stolen.status, 401, authorization);
  }
  assert.equal(seen.length, 1);
  // The address of the server is none from which the account was used.
  await http.ipHistory.flush();
  assert.deepEqual((await database.pool.query("select 1 from ip_accesses")).rows, []);
});

test("a request of the server is refused by the same permissions, constraints and validation as a client's", async (t) => {
  const { http, owner } = await anHttp(t);
  const errorOf = async (identity: Identity, body: Readonly<Record<string, unknown>> = {}) => {
    const { status, body: said } = (await send(http, identity, body)) ?? {};
    return [status, (said as { readonly error: string }).error];
  };
  const { identity } = owner;
  assert.deepEqual(await errorOf({ ...identity, permissions: { api: {} } }), [403, "not_authorized"]);
  const only = { constraints: { id: { eq: 8 } } };
  const narrow = { api: { instance_write: { "api.thing.update": only } } };
  assert.deepEqual(await errorOf({ ...identity, permissions: narrow }), [403, "not_authorized"]);
  assert.deepEqual(await errorOf(identity, { size: "large" }), [400, "invalid_args"]);
  const freeze = { id: 1 as NonNullable<Identity["freeze"]>["id"], reason: "Invented traffic." };
  assert.deepEqual(await errorOf({ ...identity, freeze }), [403, "account_frozen"]);
});

test("a request of the server counts against the limits of its key, and says when to come again", async (t) => {
  const limits = { ...NO_LIMITS, operations: { "api.thing.update": { perSecond: 0.5, burst: 1 } } };
  const { http, owner } = await anHttp(t, limits);
  assert.equal((await send(http, owner.identity))?.status, 200);
  const refused = await send(http, owner.identity);
  assert.equal(refused?.status, 429);
  assert.ok((refused?.retryAfterMs ?? 0) >= 1_000);
  const client = await http.call({ method: "PUT", url: "/api/v0/things/7/", secret: owner.secret, body: {} });
  assert.equal(client.status, 429);
});

test("the access of a route is found as the router finds the route", async (t) => {
  const { http } = await anHttp(t);
  const operationOf = (method: string, path: string) => http.scope.accessOf(method, path)?.operation;
  assert.equal(operationOf("PUT", "/api/v0/things/7/"), "api.thing.update");
  assert.equal(operationOf("PUT", "/api/v0/things/7"), "api.thing.update");
  assert.equal(operationOf("PUT", "/api/v0/things/all/"), "api.thing.all");
  assert.equal(operationOf("POST", "/api/v0/things/all/"), undefined);
  assert.equal(operationOf("PUT", "/api/v0/things/"), undefined);
});
