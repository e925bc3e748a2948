import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError, createClient, type ClientOptions } from "./client.ts";

type Answer = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | Error;

/** A client whose server gives the answers in turn; what it was sent and how long it waited are kept. */
function setUp(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const requests: Request[] = [];
  const waitsMs: number[] = [];
  const client = createClient({
    baseUrl: "http://berth.example/",
    apiKey: "secret",
    fetch: async (input, init) => {
      const answer = answers[requests.length];
      requests.push(new Request(input, init));
      assert.ok(answer !== undefined, "one request too many");
      if (answer instanceof Error) throw answer;
      return new Response(JSON.stringify(answer.body ?? {}), { status: answer.status, headers: answer.headers ?? {} });
    },
    timer: { sleep: async (ms) => void waitsMs.push(ms) },
    ...options,
  });
  return { client, requests, waitsMs };
}

const create = { method: "PUT", path: "/api/v0/asks/7/", body: { image: "busybox" } } as const;
const show = { method: "GET", path: "/api/v0/instances/7/" } as const;

test("a request carries the key, the body as JSON, and objects of the query as JSON text", async () => {
  const { client, requests } = setUp([{ status: 200, body: { success: true } }]);
  const query = { select_filters: { id: { eq: 1 } }, limit: 3, q: "a b", none: undefined };
  assert.deepEqual(await client.request({ ...create, query }), { success: true });
  const [request] = requests;
  assert.equal(request?.headers.get("authorization"), "Bearer secret");
  assert.deepEqual(await request?.json(), { image: "busybox" });
  const url = new URL(request?.url ?? "");
  assert.equal(url.pathname, "/api/v0/asks/7/");
  assert.deepEqual(Object.fromEntries(url.searchParams), { select_filters: '{"id":{"eq":1}}', limit: "3", q: "a b" });
});

test("a repeated creation carries the same idempotency key each time, and a GET carries none", async () => {
  const { client, requests } = setUp([
    { status: 503 },
    new TypeError("fetch failed"),
    { status: 200 },
    { status: 200 },
  ]);
  await client.request(create);
  await client.request(show);
  const keys = requests.map((request) => request.headers.get("idempotency-key"));
  assert.equal(keys[0]?.length, 36);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0], null]);
});

test("the server's Retry-After is kept to, and without one the waits double", async () => {
  const { client, waitsMs } = setUp([
    { status: 429, headers: { "retry-after": "2" } },
    { status: 502 },
    { status: 504 },
    { status: 200 },
  ]);
  await client.request(show);
  assert.deepEqual(waitsMs, [2000, 300, 600]);
});

test("a Retry-After of minutes is handed to the caller instead of being waited for", async () => {
  const { client, waitsMs } = setUp([
    { status: 429, body: { detail: "slow down" }, headers: { "retry-after": "600" } },
  ]);
  await assert.rejects(client.request(show), { name: "ApiError", status: 429, code: "rate_limited", msg: "slow down" });
  assert.deepEqual(waitsMs, []);
});

test("a refusal is not repeated and arrives with its code, sentence, request id and further keys", async () => {
  const body = { success: false, error: "no_such_ask", msg: "There is no offer 7.", request_id: "r-1", ask_id: 7 };
  const { client } = setUp([{ status: 404, body }]);
  await assert.rejects(client.request(create), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code, error.msg, error.requestId], [404, "no_such_ask", body.msg, "r-1"]);
    assert.equal(error.body["ask_id"], 7);
    return true;
  });
});

test("a server that is not there is tried four times and then named with the reason", async () => {
  const refused = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
  const { client, requests } = setUp([refused, refused, refused, refused]);
  await assert.rejects(client.request(show), {
    name: "ConnectionError",
    message: "cannot reach http://berth.example/: ECONNREFUSED",
  });
  assert.equal(requests.length, 4);
});

test("an answer that is not JSON is an error of its own", async () => {
  const html = async () => new Response("<html>", { status: 200 });
  await assert.rejects(setUp([], { fetch: html }).client.request(show), ConnectionError);
});

test("a caller that aborts gets its own reason, and nothing is repeated", async () => {
  const { client, requests } = setUp([new TypeError("aborted")]);
  await assert.rejects(client.request(show, { signal: AbortSignal.abort() }), TypeError);
  assert.equal(requests.length, 1);
});

const SEVERAL = ["http://one.example", "http://two.example/", "http://three.example"] as const;
const refused = () => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
const hosts = (requests: readonly Request[]) => requests.map(({ url }) => new URL(url).hostname.split(".")[0]);

test("a call goes on at the next server when one is away, with the same key, and later calls stay there", async () => {
  const answers = [refused(), { status: 503 }, { status: 200 }, { status: 200 }];
  const { client, requests, waitsMs } = setUp(answers, { baseUrl: SEVERAL });
  await client.request(create);
  await client.request(show);
  assert.deepEqual(hosts(requests), ["one", "two", "three", "three"]);
  const keys = requests.slice(0, 3).map((request) => request.headers.get("idempotency-key"));
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(waitsMs, [], "another server is asked at once");
});

test("calls that find the same server away do not skip the next one", async () => {
  const away = new Set(["one.example"]);
  const asked: string[] = [];
  const { client } = setUp([], {
    baseUrl: SEVERAL,
    fetch: async (input) => {
      const { hostname } = new URL(String(input));
      asked.push(hostname);
      await new Promise((resolve) => setImmediate(resolve));
      if (away.has(hostname)) throw refused();
      return new Response("{}");
    },
  });
  await Promise.all([client.request(show), client.request(show)]);
  assert.deepEqual(asked, ["one.example", "one.example", "two.example", "two.example"]);
});

test("a refusal or a limit of requests is the answer of one server, and no other one is asked", async () => {
  const refusal = setUp([{ status: 404 }], { baseUrl: SEVERAL });
  await assert.rejects(refusal.client.request(create), { status: 404 });
  const limited = setUp([{ status: 429, headers: { "retry-after": "2" } }, { status: 200 }], { baseUrl: SEVERAL });
  await limited.client.request(show);
  assert.deepEqual([hosts(limited.requests), limited.waitsMs], [["one", "one"], [2000]]);
});

test("when all servers are away each is tried four times, with a wait after each round, and all are named", async () => {
  const baseUrl = SEVERAL.slice(0, 2);
  const { client, requests, waitsMs } = setUp(Array.from({ length: 8 }, refused), { baseUrl });
  await assert.rejects(client.request(show), {
    name: "ConnectionError",
    message: "cannot reach http://one.example: ECONNREFUSED; cannot reach http://two.example/: ECONNREFUSED",
  });
  assert.deepEqual([requests.length, waitsMs], [8, [150, 300, 600]]);
  const answered = setUp([{ status: 503, body: { error: "database_unavailable" } }, refused()], {
    baseUrl,
    attemptsMax: 1,
  });
  await assert.rejects(answered.client.request(show), { code: "database_unavailable" });
  await assert.rejects(
    answered.client.request(show),
    ConnectionError,
    "repetition is off, yet the next one is asked next",
  );
  assert.deepEqual(hosts(answered.requests), ["one", "two"]);
});

test("a key that is shown to a server with https is not shown to another one without", () => {
  const mixed = () => setUp([], { baseUrl: ["https://one.example", "http://two.example"] });
  assert.throws(mixed, /either all addresses of servers begin with https/);
  assert.throws(() => setUp([], { baseUrl: [] }), /the address of a server is needed/);
});
