import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError } from "./client.ts";
import { callEndpoint, type EndpointRequest } from "./endpoint-client.ts";

const ROUTE = { endpoint: "chat", cost: 10, __request_id: "r", request_idx: 7 };
const GIVEN = { ...ROUTE, url: "http://worker.example:3000", reqnum: 1, signature: "s" };
const OTHER = { ...GIVEN, url: "http://other.example:3000", reqnum: 5 };
const HELD = { ...ROUTE, status: "Next in line for a worker" };

type Said = { readonly status?: number; readonly body?: unknown } | Error;
type Sent = { readonly url: string; readonly body: Readonly<Record<string, unknown>> };

/** An endpoint whose server and workers give these answers in turn; what was sent and how long was waited are kept. */
function setUp(answers: readonly Said[], baseUrl: string | readonly string[] = "http://berth.example") {
  const sent: Sent[] = [];
  const waitsMs: number[] = [];
  const statuses: string[] = [];
  const options = {
    baseUrl,
    endpoint: "chat",
    endpointKey: "endpoint-key",
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const said = answers[sent.length];
      const request = new Request(input, init);
      const body = JSON.parse(await request.text()) as Sent["body"];
      sent.push({ url: request.url, body });
      assert.ok(said !== undefined, "one request too many");
      if (said instanceof Error) throw said;
      return new Response(JSON.stringify(said.body ?? {}), { status: said.status ?? 200 });
    },
    timer: {
      sleep: async (ms: number) => {
        waitsMs.push(ms);
        // Lets the time pass that the request as a whole may take.
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
    random: () => 0.5,
  };
  const ask = (request: Partial<EndpointRequest> = {}) =>
    callEndpoint(options, {
      route: "/v1/completions",
      cost: 10,
      payload: { prompt: "Once" },
      onStatus: (status) => statuses.push(status),
      ...request,
    });
  const routed = () => sent.filter(({ url }) => url.endsWith("/route/")).map(({ body }) => body["request_idx"]);
  return { ask, sent, waitsMs, statuses, routed };
}

test("a request goes to the worker that it is given, with the whole route, its session and its payload", async () => {
  const { ask, sent, waitsMs } = setUp([{ body: GIVEN }, { body: { text: "upon a time" } }]);
  const { response, workerUrl, requestIdx } = await ask({ sessionId: "abc" });
  assert.deepEqual(await response.json(), { text: "upon a time" });
  assert.deepEqual([workerUrl, requestIdx, waitsMs], [GIVEN.url, 7, []]);
  assert.deepEqual(sent, [
    {
      url: "http://berth.example/route/",
      body: { endpoint: "chat", api_key: "endpoint-key", cost: 10, request_idx: 0, replay_timeout: 60 },
    },
    {
      url: "http://worker.example:3000/v1/completions",
      body: { auth_data: GIVEN, session_id: "abc", payload: { prompt: "Once" } },
    },
  ]);
});

test("without a worker it asks again under its number, first after a second and then at random, five at most", async () => {
  const { ask, waitsMs, routed, statuses } = setUp([
    ...Array.from({ length: 5 }, () => ({ body: HELD })),
    { body: GIVEN },
    { body: {} },
  ]);
  await ask();
  assert.deepEqual(routed(), [0, 7, 7, 7, 7, 7]);
  assert.deepEqual(waitsMs, [1_000, 1_000, 2_000, 2_500, 2_500]);
  assert.deepEqual(statuses.length, 5);
});

test("a request that a worker could not take goes to another one under the same number", async () => {
  for (const failure of [
    { status: 408 },
    { status: 429 },
    { status: 500 },
    { status: 503 },
    new TypeError("fetch failed"),
  ]) {
    const { ask, routed, waitsMs } = setUp([{ body: GIVEN }, failure, { body: OTHER }, { body: { ok: true } }]);
    const { workerUrl } = await ask();
    assert.deepEqual([workerUrl, routed(), waitsMs], [OTHER.url, [0, 7], []]);
  }
});

test("workers that go on refusing are asked less and less often", async () => {
  const refused = Array.from({ length: 4 }, () => [{ body: GIVEN }, { status: 429 }]).flat();
  const { ask, waitsMs } = setUp([...refused, { body: GIVEN }, { body: {} }]);
  await ask();
  assert.deepEqual(waitsMs, [200, 400, 800]);
});

test("a server that is busy or away is asked again", async () => {
  const { ask, routed } = setUp([{ status: 503 }, new TypeError("fetch failed"), { body: GIVEN }, { body: {} }]);
  await ask();
  assert.deepEqual(routed(), [0, 0, 0]);
});

test("a refusal of the server or of the worker is final", async () => {
  const unknown = setUp([{ status: 401, body: { success: false, error: "auth_error", msg: "no" } }]);
  await assert.rejects(unknown.ask(), (error) => error instanceof ApiError && error.code === "auth_error");
  const wrong = setUp([{ body: GIVEN }, { status: 422, body: { auth_data: "bad" } }]);
  await assert.rejects(wrong.ask(), (error) => error instanceof ApiError && error.status === 422);
  assert.equal(wrong.sent.length, 2);
});

test("when the time is over it says what it waited for", async () => {
  const { ask } = setUp(Array.from({ length: 100_000 }, () => ({ body: HELD })));
  await assert.rejects(
    ask({ timeoutMs: 20 }),
    (error) => error instanceof ConnectionError && /Next in line for a worker/.test(error.message),
  );
});

test("a caller that aborts gets its own reason and no other error", async () => {
  const giveUp = new AbortController();
  const { ask } = setUp(Array.from({ length: 100 }, () => ({ body: HELD })));
  const reason = new Error("enough");
  const onStatus = () => giveUp.abort(reason);
  await assert.rejects(ask({ signal: giveUp.signal, onStatus }), (error) => error === reason);
});

test("a stream is returned when it begins", async () => {
  const { ask } = setUp([{ body: GIVEN }, { body: { delta: 1 } }]);
  const { response } = await ask({ isStream: true });
  assert.ok(response.body !== null && !response.bodyUsed);
  assert.equal(await response.text(), '{"delta":1}');
});

test("a request that waits at a server that dies goes on at the next one, under the number that it has", async () => {
  const servers = ["http://one.example", "http://two.example"];
  const { ask, sent, routed } = setUp([{ body: HELD }, new TypeError("fetch failed"), { body: GIVEN }, {}], servers);
  await ask();
  assert.deepEqual(
    sent.map(({ url }) => new URL(url).hostname),
    ["one.example", "one.example", "two.example", "worker.example"],
  );
  assert.deepEqual(routed(), [0, 7, 7]);
});
