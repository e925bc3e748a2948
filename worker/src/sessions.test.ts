import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { aReadyWorker, authFor } from "../test/place.ts";
import { isMembers, type Members } from "./routed-request.ts";

function readMembers(value: unknown): Members {
  assert.ok(isMembers(value));
  return value;
}

/** A worker with a session that was opened with this payload, and the bodies that its backend got at the end. */
async function aSession(t: TestContext, payload: Readonly<Record<string, unknown>>) {
  const farewells: unknown[] = [];
  const place = await aReadyWorker(t, (request, response) => {
    void text(request).then((body) => {
      if (request.url === "/bye") farewells.push(JSON.parse(body));
      response.end("ok");
    });
  });
  const { ask, url } = place;
  const created = await ask("/session/create", { payload });
  const opened: unknown = await created.json();
  assert.equal(created.status, 201);
  const session_auth = authFor(url);
  const post = async (address: string, body: object) => {
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, body: readMembers(await answer.json()) };
  };
  const own = { session_id: "session-1", session_auth };
  const work = async () => (await ask("/work", { sessionId: "session-1" })).status;
  return { ...place, farewells, opened, session_auth, post, own, work };
}

test("a client gets its session back exactly as it opened it", async (t) => {
  const payload = { lifetime: 30, on_close_route: "/bye", on_close_payload: { a: 1 } };
  const { url, clock, opened, session_auth, post, own } = await aSession(t, payload);
  const { body } = await post(`${url}/session/get`, own);
  const { expiration, created_at: createdAt, ...rest } = body;
  assert.deepEqual(rest, { session_id: "session-1", auth_data: session_auth, ...payload });
  const seconds = clock.now().getTime() / 1000;
  assert.deepEqual([createdAt, expiration], [seconds, seconds + 30]);
  assert.deepEqual(opened, { session_id: "session-1", expiration });
});

test("a session that was opened without a lifetime has a minute", async (t) => {
  const { url, post, own } = await aSession(t, { on_close_route: null, on_close_payload: null });
  const { body } = await post(`${url}/session/get`, own);
  assert.deepEqual([body["lifetime"], body["on_close_route"], body["on_close_payload"]], [60, null, null]);
});

test("each request adds a lifetime to the session, and a look at it leaves at least one", async (t) => {
  const { url, clock, post, own, work } = await aSession(t, { lifetime: 10 });
  const left = async () => {
    const { body } = await post(`${url}/session/get`, own);
    return Math.round(Number(body["expiration"]) - clock.now().getTime() / 1000);
  };
  assert.equal(await left(), 10);
  assert.equal(await left(), 10);
  assert.deepEqual([await work(), await work(), await left()], [200, 200, 30]);
  clock.advance(25_000);
  assert.deepEqual([await work(), await left()], [200, 15]);
  const forged = { auth_data: authFor(url, { signature: "" }), session_id: "session-1", payload: {} };
  assert.equal((await post(`${url}/work`, forged)).status, 401);
  assert.equal(await left(), 15, "who was refused did not use it");
  clock.advance(12_000);
  assert.equal(await left(), 10);
});

test("a client learns if its session is alive, and no other client learns it", async (t) => {
  const { url, post, own } = await aSession(t, { lifetime: 10 });
  const health = (changes: object) => post(`${url}/session/health`, { ...own, ...changes });
  assert.deepEqual(await health({}), { status: 200, body: { ok: true } });
  assert.deepEqual(await health({ session_id: "another" }), { status: 200, body: { ok: false } });
  assert.equal((await health({ session_auth: authFor(url, { request_idx: 2 }) })).status, 401);
});

test("the program beside the worker ends a session without TLS, and does nothing else there", async (t) => {
  const { url, innerUrl, farewells, post, own, work } = await aSession(t, { lifetime: 10, on_close_route: "/bye" });
  assert.equal((await post(`${innerUrl}/work`, { ...own, payload: {} })).status, 404);
  assert.equal((await post(`${innerUrl}/session/get`, own)).status, 404);
  const stranger = { ...own, session_auth: authFor(url, { cost: 1 }) };
  assert.equal((await post(`${innerUrl}/session/end`, stranger)).status, 401);
  assert.deepEqual(await post(`${innerUrl}/session/end`, own), {
    status: 200,
    body: { ended: true, removed_session: "session-1" },
  });
  assert.deepEqual(farewells, [{ session_id: "session-1" }]);
  assert.equal(await work(), 410);
});

test("any payload that a client gives for the end reaches the backend", async (t) => {
  const { url, farewells, post, own } = await aSession(t, { on_close_route: "/bye", on_close_payload: ["a", "list"] });
  await post(`${url}/session/end`, own);
  assert.deepEqual(farewells, [{ session_id: "session-1", payload: ["a", "list"] }]);
});
