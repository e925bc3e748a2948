import assert from "node:assert/strict";
import { createVerify, randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { recordingWorker, sayJson, type Behaviour } from "../../../../../test/support/serverless/recording-worker.ts";
import { asId, type EndpointGroupId, type InstanceId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { addWorker } from "../endpoints/service.ts";
import { notifyEndpoints } from "../endpoints/store.ts";

const CHAT = { model: "any-model", messages: [{ role: "user", content: "Hello" }] };
const NAME = "llama 70b";

async function world(t: TestContext) {
  const app = await testApp(t, { secret: randomBytes(32) });
  const owner = await app.caller();
  const { secret } = owner;
  const made = await app.call({ method: "POST", url: "/api/v0/endptjobs/", secret, body: { endpoint_name: NAME } });
  const endpointId = asId<EndpointGroupId>(Number(made.body.result));
  const shown = await app.call({ url: `/api/v0/endptjobs/${endpointId}/`, secret });
  const endpointKey = String(shown.body.result.api_key);
  const ask = (body: unknown = CHAT, path = `/${encodeURIComponent(NAME)}/v1/chat/completions`, key = secret) =>
    app.call({ method: "POST", url: path, secret: key, body });
  /** Calls the server over a socket, for answers that stream and clients that disconnect. */
  const open = (body: unknown, init: RequestInit = {}) =>
    fetch(`http://${app.origin}/${encodeURIComponent(NAME)}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
      ...init,
    });
  const worker = async (behave: Behaviour) => {
    const made = await recordingWorker(t, behave);
    return { ...made, id: await addReady(app, owner, { endpointId, url: made.url }) };
  };
  return { app, owner, endpointId, endpointKey, ask, open, worker };
}

async function addReady(
  app: TestApp,
  owner: TestCaller,
  { endpointId, url }: { readonly endpointId: EndpointGroupId; readonly url: string },
) {
  const id = await withTransaction(app.env.database, app.clock, async (tx) => {
    const instanceId = await anInstanceRow(tx, owner.id, await aMachine(tx, owner.id));
    assert.equal(await addWorker(tx, endpointId, instanceId), "added");
    // The report stays recent for as long as the test takes.
    const reportedAt = new Date(app.clock.now().getTime() + 3_600_000);
    const set = { url, ready_at: app.clock.now(), reported_at: reportedAt, claimed_perf: 100 };
    await tx.db.updateTable("endpoint_workers").set(set).where("instance_id", "=", instanceId).execute();
    await notifyEndpoints(tx, [endpointId]);
    return instanceId;
  });
  await app.settled();
  return id;
}

const answerIt: Behaviour = (_recorded, response) => sayJson(response, { id: "chatcmpl-1", choices: [] });

test("a worker gets the request in the published form, without ignored members, and its answer comes back", async (t) => {
  const { app, ask, worker } = await world(t);
  const { received, url } = await worker(answerIt);
  const image = { type: "image_url", image_url: { url: "data:,", detail: "high" } };
  const body = { ...CHAT, user: "me", suffix: "x", max_tokens: 7, n: 2, seed: 5 };
  const answer = await ask({ ...body, messages: [{ role: "user", content: [image] }] });
  assert.deepEqual([answer.status, answer.body], [200, { id: "chatcmpl-1", choices: [] }]);
  const [sent] = received;
  assert.ok(sent);
  assert.deepEqual(sent.payload, {
    max_tokens: 7,
    n: 2,
    seed: 5,
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }],
  });
  assert.deepEqual([sent.path, sent.sessionId], ["/v1/chat/completions", null]);
  const { signature, request_idx: idx, reqnum, __request_id: requestId, expires_at, ticket, ...rest } = sent.authData;
  assert.deepEqual(rest, { endpoint: NAME, url, cost: 14 });
  assert.ok(Number(expires_at) > 0 && String(ticket).length === 43);
  assert.ok(Number(idx) > 0 && Number.isInteger(reqnum) && requestId !== "");
  const pem = await app.call({ url: "/pubkey/" });
  const signed = createVerify("RSA-SHA256").update(`{\n    "url": "${url}"\n}`);
  assert.ok(signed.verify(pem.text, String(signature), "base64"));
});

test("both operations answer with and without /v1, for the account's key and the endpoint's own", async (t) => {
  const { ask, worker, endpointKey } = await world(t);
  const { received } = await worker(answerIt);
  const name = encodeURIComponent(NAME);
  const paths = ["/v1/chat/completions", "/chat/completions", "/v1/completions", "/completions/"];
  for (const path of paths) {
    const body = path.includes("chat") ? CHAT : { prompt: "Once" };
    assert.equal((await ask(body, `/${name}${path}`)).status, 200, path);
    assert.equal((await ask(body, `/${name}${path}`, endpointKey)).status, 200, path);
  }
  const asked = received.map(({ path }) => path);
  assert.deepEqual([...new Set(asked)], ["/v1/chat/completions", "/v1/completions"]);
});

test("members that are null count as absent, as with OpenAI", async (t) => {
  const { ask, worker } = await world(t);
  const { received } = await worker(answerIt);
  const nulls = { max_tokens: null, max_completion_tokens: null, n: null, stream: null, seed: null };
  assert.equal((await ask({ ...CHAT, ...nulls })).status, 200);
  assert.equal(received[0]?.authData["cost"], 100);
});

test("refusals are in OpenAI's form: keys, names, fields, paths", async (t) => {
  const { app, owner, ask, worker, endpointKey } = await world(t);
  await worker(answerIt);
  const stranger = await app.caller();
  const narrow = await inTransaction(app.env.database, (tx) =>
    aKey(tx, owner, { permissions: { api: { user_read: {} } } }),
  );
  const path = `/${encodeURIComponent(NAME)}/v1/chat/completions`;
  const refusals: readonly (readonly [number, string, string | null, Awaited<ReturnType<typeof ask>>])[] = [
    [401, "auth_error", null, await ask(CHAT, path, "wrong")],
    [401, "auth_error", null, await app.call({ method: "POST", url: path, body: CHAT })],
    [401, "auth_error", null, await ask(CHAT, "/other/v1/chat/completions", endpointKey)],
    [403, "not_authorized", null, await ask(CHAT, path, narrow.secret)],
    [404, "no_such_endpoint", null, await ask(CHAT, path, stranger.secret)],
    [404, "no_such_endpoint", null, await ask(CHAT, "/none/v1/chat/completions")],
    [400, "invalid_args", "messages", await ask({ messages: [] })],
    [400, "invalid_args", "messages[0]", await ask({ messages: ["hello"] })],
    [400, "invalid_args", "stream", await ask({ ...CHAT, stream: "yes" })],
    [400, "invalid_args", "max_tokens", await ask({ ...CHAT, max_tokens: 0 })],
    [400, "invalid_args", "prompt", await ask({}, path.replace("chat/", ""))],
    [404, "not_found", null, await ask({ input: "a" }, path.replace("chat/completions", "embeddings"))],
    [404, "not_found", null, await ask({}, `/x/images/generations`)],
    [405, "method_not_allowed", null, await app.call({ url: path, secret: owner.secret })],
    [404, "not_found", null, await app.call({ url: "/x/v1/models", secret: owner.secret })],
  ];
  for (const [status, code, param, answer] of refusals) {
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(Object.keys(answer.body), ["error"], answer.text);
    const { error } = answer.body;
    assert.deepEqual([error.code, error.param, typeof error.type], [code, param, "string"], answer.text);
    assert.ok(error.message.length > 10);
  }
  const ours = await app.call({ url: "/api/v1/nothing", secret: owner.secret });
  assert.deepEqual([ours.status, ours.body.error], [404, "not_found"]);
});

test("a stream is passed on as it is made, and no faster than it is read", async (t) => {
  const { open, worker } = await world(t);
  let wrote = 0;
  let goOn = () => {};
  const chunk = Buffer.alloc(65_536, ".");
  const { received } = await worker(async (_recorded, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.write("data: 1\n\n");
    await new Promise<void>((resolve) => (goOn = resolve));
    const more = () => {
      while (wrote < 2_000) {
        wrote += 1;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end("data: [DONE]\n\n");
    };
    more();
  });
  const answer = await open({ ...CHAT, stream: true });
  assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const reader = answer.body?.getReader();
  assert.ok(reader);
  const first = await reader.read();
  assert.equal(Buffer.from(first.value ?? []).toString(), "data: 1\n\n", "before the rest is made");
  goOn();
  await soon("the worker to be held up", () => wrote > 1);
  let [seen, rounds] = [0, 0];
  // The client does not read, so the worker's writes stop.
  await soon("a standstill", () => {
    rounds = wrote === seen ? rounds + 1 : 0;
    seen = wrote;
    return rounds > 20;
  });
  assert.ok(wrote < 2_000, "most of it is still to be made");
  let text = "";
  for (let part = await reader.read(); part.done !== true; part = await reader.read()) {
    // The last text may arrive in two parts.
    text = `${text}${Buffer.from(part.value).toString()}`.slice(-14);
  }
  assert.equal(text, "data: [DONE]\n\n");
  assert.equal(received.length, 1);
});

test("a client that disconnects cancels the worker's request, and leaves the queue", async (t) => {
  const { app, endpointId, open, worker } = await world(t);
  const queue = () => app.app.routers.of(endpointId)?.queue().requestCount ?? 0;
  const early = new AbortController();
  const held = open(CHAT, { signal: early.signal });
  await soon("it to wait", () => queue() === 1);
  early.abort();
  await assert.rejects(held);
  await soon("it to leave", () => queue() === 0);
  assert.equal(app.app.routers.of(endpointId)?.isIdle(), true);
  const { received } = await worker((_recorded, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
  });
  const late = new AbortController();
  const answer = await open({ ...CHAT, stream: true }, { signal: late.signal });
  await answer.body?.getReader().read();
  late.abort();
  await received[0]?.hungUp;
});

test("an answer that breaks off after its beginning is broken for the client, and no other worker is asked", async (t) => {
  const { open, worker } = await world(t);
  const { received } = await worker((_recorded, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    setImmediate(() => response.socket?.destroy());
  });
  const answer = await open({ ...CHAT, stream: true });
  assert.equal(answer.status, 200);
  await assert.rejects(answer.text());
  assert.equal(received.length, 1);
});

test("a client waits for a worker, up to its patience", async (t) => {
  const { app, owner, endpointId, ask, open, worker } = await world(t);
  const queue = () => app.app.routers.of(endpointId)?.queue().requestCount ?? 0;
  const impatient = ask();
  await soon("it to wait", () => queue() === 1);
  app.clock.advance(59_000);
  assert.equal(queue(), 1);
  app.clock.advance(1_000);
  const { status, body } = await impatient;
  assert.deepEqual([status, body.error.code, body.error.type], [503, "no_worker", "server_error"]);
  assert.match(body.error.message, /within 60 seconds: .*no worker yet/);
  const headers = { "content-type": "application/json", "x-stainless-timeout": "120" };
  const patient = open(CHAT, { headers: { ...headers, authorization: `Bearer ${owner.secret}` } });
  await soon("it to wait", () => queue() === 1);
  app.clock.advance(100_000);
  await worker(answerIt);
  assert.equal((await patient).status, 200);
});

test("a worker's refusal is passed on when the client is to blame, and no other worker is asked", async (t) => {
  const { ask, worker } = await world(t);
  const { received } = await worker((_recorded, response) =>
    sayJson(response, { error: { message: "too long", type: "BadRequestError", code: 400 } }, 400),
  );
  const { status, body } = await ask();
  assert.deepEqual([status, body], [400, { error: { message: "too long", type: "BadRequestError", code: 400 } }]);
  assert.equal(received.length, 1);
});

test("a worker's doubt about the signature is not reported as an error of the client's key", async (t) => {
  const { ask, worker } = await world(t);
  await worker((_recorded, response) => sayJson(response, { detail: "bad signature" }, 401));
  const { status, body } = await ask();
  assert.deepEqual([status, body.error.code], [502, "worker_failed"]);
  assert.match(body.error.message, /status 401/);
});

/** Reactions of a worker to a request; only after `answer` was it served. */
const DEEDS = ["answer", "late", "busy", "timeout", "error", "gateway", "reset", "cut"] as const;
type Deed = (typeof DEEDS)[number];
const STATUSES = { busy: 429, timeout: 408, error: 500, gateway: 502 } as const;

function behaviourOf(deeds: Iterator<Deed>, served: string[]): Behaviour {
  return async ({ payload }, response) => {
    const next = deeds.next();
    const deed = next.done === true ? "answer" : next.value;
    switch (deed) {
      case "answer":
      case "late":
        if (deed === "late") await new Promise((resolve) => setImmediate(resolve));
        served.push(String(payload["seed"]));
        return sayJson(response, { seed: payload["seed"] });
      case "reset":
        return void response.socket?.destroy();
      case "cut":
        // The head alone is no answer yet.
        response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
        return void setImmediate(() => response.socket?.destroy());
      default:
        return sayJson(response, { error: { message: deed } }, STATUSES[deed]);
    }
  };
}

test("each request is answered once, with its own answer, and served at most once, however workers react", async (t) => {
  const { app, ask, worker, endpointId } = await world(t);
  let deeds: readonly (readonly Deed[])[] = [[], [], []];
  let cursors = deeds.map((own) => own.values());
  let served: string[] = [];
  const ids: InstanceId[] = [];
  for (const place of [0, 1, 2]) {
    const { id } = await worker((recorded, response) => {
      const cursor = cursors[place];
      assert.ok(cursor);
      // A worker reports each request as done, however it ended.
      response.on("close", () => {
        const [self, idx] = [ids[place], Number(recorded.authData["request_idx"])];
        assert.ok(self !== undefined && idx > 0);
        app.app.routers.finish(endpointId, self, [idx]);
      });
      return behaviourOf(cursor, served)(recorded, response);
    });
    ids.push(id);
  }
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...DEEDS), { maxLength: 6 }), { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      async (script, requestCount) => {
        deeds = script;
        cursors = deeds.map((own) => own.values());
        served = [];
        let open = requestCount;
        const asked = Array.from({ length: requestCount }, async () => {
          const seed = (count += 1);
          const answer = await ask({ ...CHAT, seed }).finally(() => (open -= 1));
          return { seed, answer };
        });
        // A refused client waits a little before it asks again.
        await soon("all to be answered", () => {
          if (open > 0) app.clock.advance(50);
          return open === 0;
        });
        const all = await Promise.all(asked);
        for (const { seed, answer } of all) {
          const times = served.filter((one) => one === String(seed)).length;
          if (answer.status === 200) assert.deepEqual([answer.body, times], [{ seed }, 1]);
          else assert.deepEqual([times, Object.keys(answer.body)], [0, ["error"]], answer.text);
        }
        const router = app.app.routers.of(endpointId);
        assert.equal(router?.queue().requestCount, 0);
        await soon("nothing to be left of them", () => ids.every((id) => router?.loadOf(id).requestCount === 0));
      },
    ),
    { numRuns: 25 },
  );
});
