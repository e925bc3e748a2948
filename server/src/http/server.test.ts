import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { Type } from "typebox";
import { aCaller } from "../../../test/support/fixtures.ts";
import { NO_LIMITS, testHttp, type TestAnswer } from "../../../test/support/network/http.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { invalid } from "../base/errors.ts";
import { identityOf, type HttpScope } from "./server.ts";

const { database } = await testDatabase();

const Echo = Type.Object({}, { additionalProperties: true });

/** A few routes of every kind, none of which belongs to a domain. */
function exampleRoutes({ app, mutate }: HttpScope): void {
  app.get(
    "/api/v0/things/:id/",
    {
      config: { access: { operation: "api.thing.show", permission: "misc" } },
      schema: {
        params: Type.Object({ id: Type.Integer() }),
        querystring: Type.Object({ limit: Type.Optional(Type.Integer()), on: Type.Optional(Type.Boolean()) }),
        response: { 200: Echo },
      },
    },
    async (request) => ({ params: request.params, query: request.query }),
  );
  app.put(
    "/api/v0/things/",
    {
      config: { access: { operation: "api.thing.update", permission: "misc" } },
      schema: {
        body: Type.Object({
          size: Type.Optional(Type.Number()),
          tags: Type.Optional(Type.Array(Type.String())),
          kind: Type.Optional(Type.Enum(["cat", "dog"])),
          mood: Type.Optional(Type.Union([Type.Null(), Type.Literal("good"), Type.Literal("bad")])),
          is_tame: Type.Optional(Type.Literal(true)),
          legs: Type.Optional(Type.Union([Type.Number(), Type.Literal("all")])),
        }),
        response: { 200: Echo },
      },
    },
    async (request) => ({ body: request.body }),
  );
  app.post(
    "/api/v0/things/",
    { config: { access: { operation: "api.thing.create", permission: "misc", limit: "keys" } } },
    (request) =>
      mutate(request, async (tx) => {
        if (Object.hasOwn(Object(request.body), "fail")) throw invalid("fail", "told to fail");
        const made = await tx.db
          .insertInto("audit_events")
          .values({
            user_id: identityOf(request).userId,
            ip_address: request.ip,
            action: "api.thing.create",
            arguments: "{}",
            created_at: tx.now,
          })
          .returning("id")
          .executeTakeFirstOrThrow();
        return { id: Number(made.id) };
      }),
  );
  app.get(
    "/api/v0/open/",
    { config: { access: { operation: "api.open.show", permission: "public" } } },
    async (request) => ({ has_identity: request.identity !== undefined }),
  );
  app.get(
    "/api/v0/either/",
    { config: { access: { operation: "api.either.show", permission: "optional" } } },
    async (request) => ({ user_id: request.identity?.userId ?? null }),
  );
  app.get("/api/v0/broken/", { config: { access: { operation: "api.broken.show", permission: "misc" } } }, async () => {
    throw new Error("password=hunter2 at 10.0.0.1");
  });
}

const http = await testHttp(database, exampleRoutes);
const caller = await aCaller(database);
const { secret } = caller;

function assertFailure(answer: TestAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
  const { success, error, msg, request_id: requestId } = answer.body;
  assert.deepEqual({ success, error }, { success: false, error: code });
  assert.ok(typeof msg === "string" && msg !== "");
  assert.equal(requestId, answer.headers["x-request-id"]);
}

test("every route answers with and without its slash, and with doubled ones, without a redirect", async () => {
  for (const url of ["/api/v0/things/7", "/api/v0/things/7/", "//api/v0//things/7", "/api/v0/things//7//"]) {
    const answer = await http.call({ url, secret });
    assert.equal(answer.status, 200, url);
    assert.deepEqual(answer.body.params, { id: 7 });
  }
});

test("content type is exactly application/json, in success and in failure", async () => {
  for (const url of ["/api/v0/things/7/", "/api/v0/things/x/", "/api/v0/nothing/"]) {
    assert.equal((await http.call({ url, secret })).headers["content-type"], "application/json");
  }
});

test("a path that does not exist is not found, with or without a key, and says nothing of the query", async () => {
  assertFailure(await http.call({ url: "/api/v0/nothing/?api_key=berth_x" }), 404, "not_found");
  const { text } = await http.call({ url: "/api/v0/nothing/?api_key=berth_x", secret });
  assert.ok(!text.includes("berth_x"));
});

test("a known path with a method that it does not have is 405 and names those that it has, for any body", async () => {
  for (const method of ["DELETE", "OPTIONS", "PUT"] as const) {
    for (const url of ["/api/v0/things/7/", "/api/v0/things/7", "//api/v0/things//7/?api_key=berth_x"]) {
      const answer = await http.call({ method, url, secret });
      assertFailure(answer, 405, "method_not_allowed");
      assert.equal(answer.headers["allow"], "GET, HEAD");
      assert.deepEqual(answer.body.allowed, ["GET", "HEAD"]);
      assert.ok(!answer.text.includes("berth_x"));
    }
  }
  const put = { method: "PUT", url: "/api/v0/things/7/", text: "size=1" } as const;
  assertFailure(await http.call(put), 405, "method_not_allowed");
  assertFailure(await http.call({ ...put, headers: { "content-type": "text/plain" } }), 405, "method_not_allowed");
  const several = await http.call({ url: "/api/v0/things/", secret });
  assertFailure(several, 405, "method_not_allowed");
  assert.equal(several.headers["allow"], "POST, PUT");
  assertFailure(await http.call({ ...put, url: "/api/v0/things/7/8/" }), 404, "not_found");
});

test("a path that cannot be decoded is refused like any other bad request", async () => {
  assertFailure(await http.call({ url: "/api/v0/things/%zz/", secret }), 400, "invalid_request");
});

test("HEAD needs the same key as GET and has no body", async () => {
  const answer = await http.call({ method: "HEAD", url: "/api/v0/things/7/", secret });
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  assert.equal((await http.call({ method: "HEAD", url: "/api/v0/things/7/" })).status, 401);
});

test("a missing key, a wrong one and a malformed header are 401 before anything else is looked at", async () => {
  for (const headers of [
    {},
    { authorization: "Bearer" },
    { authorization: "Bearer wrong" },
    { authorization: `Basic ${secret}` },
    { authorization: `Bearer ${secret.slice(0, -1)}` },
    { authorization: `Bearer ${secret} ${secret}` },
  ]) {
    const answer = await http.call({ method: "PUT", url: "/api/v0/things/", text: "{", headers });
    assertFailure(answer, 401, "auth_error");
  }
  const wrong = await http.call({ url: "/api/v0/things/7/", secret: "wrong" });
  assert.equal(wrong.body.msg, "Invalid user key");
});

test("a key may come in the query of older clients, and the header wins over it", async () => {
  assert.equal((await http.call({ url: `/api/v0/things/7/?api_key=${secret}` })).status, 200);
  assert.equal((await http.call({ url: `/api/v0/things/7/?api_key=${secret}`, secret: "wrong" })).status, 401);
});

test("a route with an optional key works without one and refuses a wrong one", async () => {
  assert.deepEqual((await http.call({ url: "/api/v0/either/" })).body, { user_id: null });
  assert.deepEqual((await http.call({ url: "/api/v0/either/", secret })).body, { user_id: caller.id });
  assertFailure(await http.call({ url: "/api/v0/either/", secret: "wrong" }), 401, "auth_error");
  assert.equal((await http.call({ url: "/api/v0/open/", secret: "wrong" })).status, 200);
});

test("a key without the permission is 403, before its request is looked at", async () => {
  const scoped = await aCaller(database, { permissions: { api: { user_read: {} } } });
  const answer = await http.call({ method: "PUT", url: "/api/v0/things/", secret: scoped.secret, text: "{" });
  assertFailure(answer, 403, "not_authorized");
});

test("a constrained key is held to its constraint in path, query and body", async () => {
  const constraints = { id: { eq: 7 } };
  const permissions = { api: { misc: { "api.thing.show": { constraints } } } };
  const scoped = await aCaller(database, { permissions });
  const statusOf = async (url: string) => (await http.call({ url, secret: scoped.secret })).status;
  assert.equal(await statusOf("/api/v0/things/7/"), 200);
  assert.equal(await statusOf("/api/v0/things/8/"), 403);
  assert.equal(await statusOf("/api/v0/things/8/?id=7"), 403);
  assert.equal(await statusOf("/api/v0/things/7/?id=8"), 403);
});

test("path and query are read as their types, null in a query is absent, unknown keys are ignored", async () => {
  const answer = await http.call({ url: "/api/v0/things/7/?limit=5&on=true&owner=me", secret });
  assert.deepEqual(answer.body, { params: { id: 7 }, query: { limit: 5, on: true, owner: "me" } });
  assert.deepEqual((await http.call({ url: "/api/v0/things/7/?limit=null", secret })).body.query, {});
  const wrong = await http.call({ url: "/api/v0/things/7/?limit=many", secret });
  assertFailure(wrong, 400, "invalid_args");
  assert.equal(wrong.body.field, "limit");
  for (const text of ["7.5", "true"]) {
    const cut = await http.call({ url: `/api/v0/things/${text}/`, secret });
    assertFailure(cut, 400, "invalid_args");
    assert.equal(cut.body.field, "id", `${text} is not cut down to a whole number`);
  }
});

test("a body is taken at its word, null is absent, and an absent body is an empty one", async () => {
  const put = (call: { body?: unknown; text?: string; headers?: Record<string, string> }) =>
    http.call({ method: "PUT", url: "/api/v0/things/", secret, ...call });
  assert.deepEqual((await put({ body: { size: null, tags: ["a"], extra: 1 } })).body, {
    body: { tags: ["a"], extra: 1 },
  });
  assert.deepEqual((await put({})).body, { body: {} });
  assert.deepEqual((await put({ text: "" })).body, { body: {} });
  assert.deepEqual((await put({ text: "null" })).body, { body: {} });
  for (const body of [{ size: "5" }, { size: true }, { tags: "a" }, { tags: [1] }, [], 5, "text"]) {
    assertFailure(await put({ body }), 400, "invalid_args");
  }
});

test("a value that is none of a fixed set is refused with the values that are", async () => {
  for (const [body, msg] of [
    [{ kind: "cow" }, "kind must be one of cat, dog"],
    [{ mood: "grim" }, "mood must be one of null, good, bad"],
    [{ is_tame: false }, "is_tame must be true"],
    // Any number would do here, so that the set is not fixed.
    [{ legs: "some" }, "legs must be number"],
  ] as const) {
    const refused = await http.call({ method: "PUT", url: "/api/v0/things/", secret, body });
    assert.deepEqual([refused.status, refused.body.msg], [400, msg]);
  }
});

test("JSON that cannot be read, is too deep, or holds what PostgreSQL cannot is 400", async () => {
  const put = (text: string) => http.call({ method: "PUT", url: "/api/v0/things/", secret, text });
  for (const text of [
    "{",
    "{'a':1}",
    "NaN",
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{"a":1}}}',
    "\u0000",
  ]) {
    assertFailure(await put(text), 400, "invalid_request");
  }
  assertFailure(await put('{"a":"x\\u0000y"}'), 400, "invalid_args");
  assertFailure(await put('{"a\\u0000":1}'), 400, "invalid_args");
  assertFailure(await put(`{"a":${"[".repeat(40)}${"]".repeat(40)}}`), 400, "invalid_args");
  assertFailure(await put(`${"[".repeat(400_000)}${"]".repeat(400_000)}`), 400, "invalid_args");
  assertFailure(await http.call({ url: "/api/v0/things/7/?owner=%00", secret }), 400, "invalid_args");
  assert.equal((await put(`{"a":${"[".repeat(31)}${"]".repeat(31)}}`)).status, 200);
});

test("a body over 1 MB is 413 and one of another type is 415", async () => {
  const put = (text: string, contentType = "application/json") =>
    http.call({ method: "PUT", url: "/api/v0/things/", secret, text, headers: { "content-type": contentType } });
  assertFailure(await put(JSON.stringify({ a: "x".repeat(1_048_577) })), 413, "payload_too_large");
  assert.equal((await put(JSON.stringify({ a: "x".repeat(1_000_000) }))).status, 200);
  assertFailure(await put("size=1", "application/x-www-form-urlencoded"), 415, "unsupported_media_type");
  assertFailure(await put("{}", "text/plain"), 415, "unsupported_media_type");
  assert.equal((await put("{}", "application/json; charset=utf-8")).status, 200);
});

test("a body without a content type is read as JSON", async () => {
  const put = (payload: string) =>
    http.scope.app.inject({
      method: "PUT",
      url: "/api/v0/things/",
      headers: { authorization: `Bearer ${secret}`, "content-length": String(payload.length) },
      payload,
    });
  const answer = await put('{"size":2}');
  assert.deepEqual([answer.statusCode, answer.json()], [200, { body: { size: 2 } }]);
  for (const [text, status, code] of [
    ["size=2", 400, "invalid_request"],
    ['{"size":"two"}', 400, "invalid_args"],
    [`{"a":"${"x".repeat(1_048_577)}"}`, 413, "payload_too_large"],
  ] as const) {
    const refused = await put(text);
    assert.deepEqual([refused.statusCode, refused.json().error], [status, code]);
  }
});

test("a defect of ours says nothing to the caller and everything to the log", async () => {
  const answer = await http.call({ url: "/api/v0/broken/?api_key=hidden", secret });
  assertFailure(answer, 500, "internal_error");
  assert.ok(!answer.text.includes("hunter2"));
  const line = http.logged.find((logged) => logged.includes("hunter2")) ?? "";
  assert.ok(line.includes(answer.body.request_id) && line.includes('"path":"/api/v0/broken/"'));
  assert.ok(!http.logged.join("").includes(secret) && !http.logged.join("").includes("hidden"));
});

test("the request after the burst is 429 with the contract's body and how long to wait, per key and operation", async () => {
  const clock = new ManualClock();
  const limits = { ...NO_LIMITS, keys: { perSecond: 0.5, burst: 2 } };
  const limited = await testHttp(database, exampleRoutes, { clock, limits });
  const create = (as: string) => limited.call({ method: "POST", url: "/api/v0/things/", secret: as });
  assert.equal((await create(secret)).status, 200);
  assert.equal((await create(secret)).status, 200);
  const refused = await create(secret);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers["retry-after"], "2");
  assert.deepEqual(refused.body, {
    detail: "API requests too frequent endpoint threshold=2",
    msg: "API requests too frequent endpoint threshold=2",
  });
  assert.equal((await limited.call({ url: "/api/v0/things/7/", secret })).status, 200);
  assert.equal((await create((await aCaller(database)).secret)).status, 200);
  clock.advance(2_000);
  assert.equal((await create(secret)).status, 200);
  assert.equal((await create(secret)).status, 429);
});

test("a request repeated with its Idempotency-Key has one effect and the same answer", async () => {
  const create = (key: string, body: unknown, as = secret) =>
    http.call({ method: "POST", url: "/api/v0/things/", secret: as, body, headers: { "idempotency-key": key } });
  const [first, second] = await Promise.all([create("k1", { a: 1, b: 2 }), create("k1", { b: 2, a: 1 })]);
  assert.equal(first.status, 200);
  assert.equal(first.text, second.text);
  assertFailure(await create("k1", { a: 2 }), 409, "idempotency_key_reused");
  assert.notEqual((await create("k1", { a: 1, b: 2 }, (await aCaller(database)).secret)).body.id, first.body.id);
  assertFailure(await create("k2", { fail: 1 }), 400, "invalid_args");
  assert.equal((await create("k2", {})).status, 200);
  assertFailure(await create("k".repeat(256), {}), 400, "invalid_args");
});

test("a route that does not say who may call it keeps the server from starting", async () => {
  for (const hide of [true, false]) {
    const start = testHttp(database, ({ app }) => {
      app.get("/api/v0/forgotten/", { schema: { hide } }, async () => ({}));
    });
    await assert.rejects(start, /does not say who may call it/);
  }
  const twice = testHttp(database, ({ app }) => {
    const config = { access: { operation: "api.a.b", permission: "public" } } as const;
    app.get("/api/v0/a/", { config }, async () => ({}));
    app.get("/api/v0/b/", { config }, async () => ({}));
  });
  await assert.rejects(twice, /two routes are called/);
});

test("the description says for each operation whether it needs a key", async () => {
  const document = JSON.parse(JSON.stringify(http.scope.app.swagger()));
  assert.deepEqual(document.paths["/api/v0/open/"].get.security, []);
  assert.deepEqual(document.paths["/api/v0/either/"].get.security, [{ bearer: [] }, {}]);
  assert.deepEqual(document.paths["/api/v0/things/"].put.security, [{ bearer: [] }]);
  assert.equal(document.paths["/api/v0/things/"].put.operationId, "api.thing.update");
});

test("bytes that are no HTTP request get an answer and break nothing", async (context) => {
  const server = await testHttp(database, exampleRoutes);
  await server.scope.app.listen({ port: 0, host: "127.0.0.1" });
  context.after(() => server.scope.app.close());
  const [address] = server.scope.app.addresses();
  assert.ok(typeof address === "object");
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(address.port, "127.0.0.1", () => socket.write("\u0016\u0003\u0001 hello\r\n\r\n"));
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.equal((await server.call({ url: "/api/v0/things/7/", secret })).status, 200);
});
