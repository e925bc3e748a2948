import assert from "node:assert/strict";
import { createVerify, randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { asId, type EndpointGroupId, type InstanceId } from "../../../base/ids.ts";
import type { PermissionDocument } from "../../../base/identity.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { followFreezes, insertFreeze } from "../../people/accounts/for-freezes.ts";
import { takeRequestNumbers } from "./route-store.ts";
import { addWorker } from "../endpoints/service.ts";
import { notifyEndpoints } from "../endpoints/store.ts";

type Endpoint = { readonly id: EndpointGroupId; readonly name: string; readonly key: string };

type Misc = NonNullable<NonNullable<PermissionDocument["api"]>["misc"]>;

async function anEndpoint(app: TestApp, owner: TestCaller, name = "llama 70b"): Promise<Endpoint> {
  const as = { secret: owner.secret };
  const made = await app.call({ method: "POST", url: "/api/v0/endptjobs/", body: { endpoint_name: name }, ...as });
  const id = Number(made.body.result);
  const shown = await app.call({ url: `/api/v0/endptjobs/${id}/`, ...as });
  return { id: asId<EndpointGroupId>(id), name, key: shown.body.result.api_key };
}

/** A worker that reports to be ready for `perf` units a second. */
async function aReadyWorker(app: TestApp, owner: TestCaller, endpoint: Endpoint, perf = 100): Promise<InstanceId> {
  const id = await withTransaction(app.env.database, app.clock, async (tx) => {
    const instanceId = await anInstanceRow(tx, owner.id, await aMachine(tx, owner.id));
    assert.equal(await addWorker(tx, endpoint.id, instanceId), "added");
    return instanceId;
  });
  const url = `http://192.0.2.7:${30_000 + id}`;
  await setWorker(app, endpoint, id, { url, ready_at: app.clock.now(), claimed_perf: perf });
  return id;
}

async function setWorker(app: TestApp, endpoint: Endpoint, id: InstanceId, columns: Record<string, unknown>) {
  await withTransaction(app.env.database, app.clock, async (tx) => {
    const set = { reported_at: app.clock.now(), ...columns };
    await tx.db.updateTable("endpoint_workers").set(set).where("instance_id", "=", id).execute();
    await notifyEndpoints(tx, [endpoint.id]);
  });
  await app.settled();
}

async function world(t: TestContext) {
  const secret = randomBytes(32);
  const app = await testApp(t, { secret });
  const owner = await app.caller();
  const endpoint = await anEndpoint(app, owner);
  const ask = (body: Readonly<Record<string, unknown>> = {}) =>
    app.call({
      method: "POST",
      url: "/route/",
      body: { endpoint: endpoint.name, api_key: endpoint.key, cost: 100, ...body },
    });
  /** Waits until this many requests are in the queue. */
  const held = (count: number) =>
    soon(`${count} held`, () => (app.app.routers.of(endpoint.id)?.queue().requestCount ?? 0) === count);
  return { app, owner, endpoint, ask, held, secret };
}

test("a request gets a signed address at once, and a number that it keeps", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const { status, body } = await ask({ request_idx: 0, replay_timeout: 60 });
  assert.equal(status, 200);
  const { url, signature, request_idx: idx, __request_id: requestId, expires_at: expiresAt, ticket, ...rest } = body;
  assert.deepEqual([url, idx > 0, typeof requestId], [`http://192.0.2.7:${30_000 + worker}`, true, "string"]);
  assert.deepEqual(rest, { endpoint: endpoint.name, cost: 100, reqnum: rest.reqnum });
  assert.equal(expiresAt, app.clock.now().getTime() / 1000 + 300);
  assert.match(ticket, /^[\w-]{43}$/);
  const pem = await app.call({ url: "/pubkey/" });
  assert.equal(pem.status, 200);
  assert.match(pem.text, /^-----BEGIN PUBLIC KEY-----/);
  const { body: published } = await app.call({ url: "/api/v0/auth/pubkeys/" });
  assert.deepEqual(published.pubkeys, [{ id: 1, algorithm: "RSA-SHA256", public_key: pem.text }]);
  const signed = createVerify("RSA-SHA256").update(`{\n    "url": "${url}"\n}`);
  assert.ok(signed.verify(pem.text, signature, "base64"));
  const next = await ask();
  assert.deepEqual([next.body.request_idx, next.body.reqnum > rest.reqnum], [idx + 1, true]);
  const { rows } = await app.env.pool.query("select sealed_private_key as key from route_signing_keys");
  assert.match(rows[0].key, /^sealed1:/);
});

test("the endpoint's key may come in the body, as bearer or in the query", async (t) => {
  const { app, owner, endpoint } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  const body = { endpoint: endpoint.name, cost: 1 };
  const calls = [
    { url: "/route/", secret: endpoint.key, body },
    { url: `/route?api_key=${endpoint.key}`, body },
    { url: "/route/", secret: owner.secret, body: { ...body, api_key: endpoint.key } },
  ];
  for (const call of calls) assert.equal((await app.call({ method: "POST", ...call })).status, 200);
});

test("a wrong key, the key of another endpoint and an unknown name get the same refusal; bad fields are named", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const other = await anEndpoint(app, owner, "other");
  const stranger = await app.caller();
  const wrong = [
    { api_key: "wrong" },
    { api_key: "\u2028 not even a key" },
    { api_key: other.key },
    { api_key: stranger.secret },
    { api_key: undefined },
  ];
  const message = `authenticate_endpoint_apikey: invalid api_key or endpoint ${endpoint.name} not found`;
  for (const body of wrong) {
    const { status, body: said } = await ask(body);
    assert.deepEqual([status, said.error, said.error_msg], [401, "auth_error", message]);
  }
  const unknown = await ask({ endpoint: "nobody's" });
  assert.deepEqual([unknown.status, unknown.body.error_msg], [401, message.replace(endpoint.name, "nobody's")]);
  const bad: readonly (readonly [string, unknown])[] = [
    ["cost", undefined],
    ["cost", "100"],
    ["cost", -1],
    ["endpoint", undefined],
    ["request_idx", 1.5],
    ["request_idx", -1],
    ["request_idx", 1_000_000],
    ["replay_timeout", -1],
  ];
  for (const [field, value] of bad) {
    const { status, body } = await ask({ [field]: value });
    assert.deepEqual([status, body.error, body.field, body.error_msg], [400, "invalid_args", field, body.msg], field);
  }
});

test("a key of the account opens the oldest of its endpoints with that name, and no other account's", async (t) => {
  const { app, owner, endpoint } = await world(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const body = { endpoint: endpoint.name, cost: 1 };
  const calls = (secret: string) => [
    { url: "/route/", secret, body },
    { url: `/route/?api_key=${secret}`, body },
    { url: "/route/", body: { ...body, api_key: secret } },
    { url: "/route/", secret, body: { ...body, api_key: "wrong" } },
  ];
  const younger = await anEndpoint(app, owner);
  for (const call of calls(owner.secret)) {
    const { status, body: said } = await app.call({ method: "POST", ...call });
    assert.deepEqual([status, said.url], [200, `http://192.0.2.7:${30_000 + worker}`]);
  }
  assert.equal(app.app.routers.of(younger.id), undefined, "the other one of this name was not asked");
  const stranger = await app.caller();
  for (const call of calls(stranger.secret)) {
    const { status, body: said } = await app.call({ method: "POST", ...call });
    assert.deepEqual([status, said.error], [401, "auth_error"]);
  }
  const own = await anEndpoint(app, stranger);
  const theirs = await aReadyWorker(app, stranger, own);
  const routed = await app.call({ method: "POST", url: "/route/", secret: stranger.secret, body });
  assert.equal(routed.body.url, `http://192.0.2.7:${30_000 + theirs}`);
});

test("an endpoint may be asked for by its id, which counts before a name, with its own key or the account's", async (t) => {
  const { app, owner, endpoint } = await world(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const ask = (secret: string, body: object) =>
    app.call({ method: "POST", url: "/route/", secret, body: { cost: 1, latency: 0.2, guid: 5, ...body } });
  for (const secret of [endpoint.key, owner.secret]) {
    const { status, body } = await ask(secret, { endpoint_id: endpoint.id, endpoint: "another name" });
    assert.deepEqual([status, body.endpoint, body.url], [200, endpoint.name, `http://192.0.2.7:${30_000 + worker}`]);
  }
  const [younger, stranger] = [await anEndpoint(app, owner), await app.caller()];
  for (const [secret, id] of [
    [stranger.secret, endpoint.id],
    [endpoint.key, younger.id],
    [owner.secret, 2_000_000_000],
  ] as const) {
    const { status, body } = await ask(secret, { endpoint_id: id });
    assert.deepEqual([status, body.error], [401, "auth_error"]);
  }
  const unnamed = await ask(endpoint.key, {});
  assert.deepEqual([unnamed.status, unnamed.body.field], [400, "endpoint"]);
});

test("a narrowed key of the account asks for workers only with the permission for serverless calls", async (t) => {
  const { app, owner, endpoint } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  const ask = async (misc: Misc | undefined) => {
    const permissions = { api: { user_read: {}, ...(misc === undefined ? {} : { misc }) } };
    const { secret } = await inTransaction(app.env.database, (tx) => aKey(tx, owner, { permissions }));
    const body = { endpoint: endpoint.name, cost: 1 };
    const { status, body: said } = await app.call({ method: "POST", url: "/route/", secret, body });
    return status === 200 ? typeof said.url : [status, said.error];
  };
  const only = (name: string) => ({ "api.route.request": { constraints: { endpoint: { eq: name } } } });
  assert.equal(await ask({}), "string");
  assert.equal(await ask(only(endpoint.name)), "string");
  assert.deepEqual(await ask(undefined), [403, "not_authorized"]);
  assert.deepEqual(await ask({ "api.endpoint.list": {} }), [403, "not_authorized"]);
  assert.deepEqual(await ask(only("other")), [403, "not_authorized"]);
});

test("a frozen account's key asks for no worker", async (t) => {
  const { app, owner, endpoint } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  const admin = await app.caller();
  await inTransaction(app.env.database, async (tx) => {
    await insertFreeze(tx, { userId: owner.id, reason: "review", frozenBy: admin.id });
    await followFreezes(tx, owner.id);
  });
  await app.settled();
  const body = { endpoint: endpoint.name, cost: 1 };
  const { status, body: said } = await app.call({ method: "POST", url: "/route/", secret: owner.secret, body });
  assert.deepEqual([status, said.error], [403, "account_frozen"]);
});

test("guessing keys is slowed down; clients with a valid key are not, however many ask at once", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  const first = await Promise.all(Array.from({ length: 700 }, () => ask({ cost: 1 })));
  assert.deepEqual(new Set(first.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(first.map(({ body }) => body.request_idx)).size, 700, "each has a number of its own");
  const guesses = await Promise.all(Array.from({ length: 700 }, (_, index) => ask({ api_key: `guess-${index}` })));
  const ofAccount = await Promise.all(Array.from({ length: 700 }, () => ask({ cost: 1, api_key: owner.secret })));
  assert.deepEqual(new Set(ofAccount.map(({ status }) => status)), new Set([200]), "its key is remembered");
  const refused = guesses.filter(({ status }) => status === 429);
  assert.ok(refused.length >= 100, `${refused.length} were too many`);
  assert.equal((await ask()).status, 200);
});

test("a request without a worker is held and answered the moment that one is ready", async (t) => {
  const { app, owner, endpoint, ask, held } = await world(t);
  const pressed: number[] = [];
  app.app.routers.onPressure((id) => void pressed.push(id));
  const answer = ask();
  await held(1);
  assert.deepEqual(pressed, [endpoint.id]);
  await aReadyWorker(app, owner, endpoint);
  const { status, body } = await answer;
  assert.deepEqual([status, typeof body.url], [200, "string"]);
});

test("a worker whose readiness was not notified is found within a second by requests that wait", async (t) => {
  const { app, owner, endpoint, ask, held } = await world(t);
  const id = await withTransaction(app.env.database, app.clock, async (tx) => {
    const instanceId = await anInstanceRow(tx, owner.id, await aMachine(tx, owner.id));
    await addWorker(tx, endpoint.id, instanceId);
    return instanceId;
  });
  const answer = ask();
  await held(1);
  // No notification follows.
  const readiness = { url: "http://192.0.2.7:30000", ready_at: app.clock.now(), reported_at: app.clock.now() };
  await app.env.database.kysely.updateTable("endpoint_workers").set(readiness).where("instance_id", "=", id).execute();
  app.clock.advance(1_000);
  await app.runLoop("write-endpoint-load");
  const { status, body } = await answer;
  assert.deepEqual([status, body.url], [200, "http://192.0.2.7:30000"]);
});

test("a worker whose readiness was not notified is found within five seconds without any request", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const known = await aReadyWorker(app, owner, endpoint);
  await ask();
  const other = await aReadyWorker(app, owner, endpoint, 100);
  await setWorker(app, endpoint, other, { ready_at: null });
  await app.env.pool.query("update endpoint_workers set ready_at = $2 where instance_id = $1", [
    other,
    app.clock.now(),
  ]);
  app.clock.advance(5_000);
  await app.runLoop("write-endpoint-load");
  await app.app.routers.settled();
  const urls = new Set<string>();
  for (let count = 0; count < 4; count += 1) urls.add((await ask({ cost: 100 })).body.url);
  assert.deepEqual(urls, new Set([known, other].map((id) => `http://192.0.2.7:${30_000 + id}`)));
});

test("after five seconds the client is told to ask again, and why; its place is kept, and a worker reserved for it", async (t) => {
  const { app, owner, endpoint, ask, held } = await world(t);
  const answers = [ask({ cost: 1 })];
  await held(1);
  answers.push(ask({ cost: 2 }));
  await held(2);
  app.clock.advance(5_000);
  const [first, second] = await Promise.all(answers);
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(Object.keys(first.body).toSorted(), ["__request_id", "cost", "endpoint", "request_idx", "status"]);
  assert.equal(first.body.status, "Next in line for a worker; no worker yet");
  assert.equal(second.body.status, "Waiting, 1 before it in line; no worker yet");
  await aReadyWorker(app, owner, endpoint);
  assert.equal(app.app.routers.of(endpoint.id)?.queue().requestCount, 0, "both have a worker");
  for (const { body } of [second, first]) {
    const again = await ask({ request_idx: body.request_idx, cost: body.cost });
    assert.deepEqual([again.body.request_idx, typeof again.body.url], [body.request_idx, "string"]);
  }
});

test("a client that disconnects before it was told a number leaves no trace", async (t) => {
  const { app, endpoint, held } = await world(t);
  const hangUp = new AbortController();
  const answer = fetch(`http://${app.origin}/route/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint: endpoint.name, api_key: endpoint.key, cost: 1 }),
    signal: hangUp.signal,
  });
  await held(1);
  hangUp.abort();
  await assert.rejects(answer);
  await held(0);
  assert.equal(app.app.routers.of(endpoint.id)?.isIdle(), true);
});

test("a client that asks twice at once is answered in the second call", async (t) => {
  const { app, owner, endpoint, ask, held } = await world(t);
  const first = ask();
  await held(1);
  app.clock.advance(5_000);
  const { body } = await first;
  const [one, two] = [ask({ request_idx: body.request_idx }), ask({ request_idx: body.request_idx })];
  assert.equal((await one).body.url, undefined);
  await aReadyWorker(app, owner, endpoint);
  assert.equal(typeof (await two).body.url, "string");
  assert.equal(app.app.routers.of(endpoint.id)?.loadOf(asId<InstanceId>(0)).load, 0);
});

test("a suspended endpoint routes to the workers it has; a stopped one says that it is stopped", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const url = `/api/v0/endptjobs/${endpoint.id}/`;
  const set = async (state: string) => {
    await app.call({ method: "PUT", url, secret: owner.secret, body: { endpoint_state: state } });
  };
  await aReadyWorker(app, owner, endpoint);
  await set("suspended");
  assert.equal(typeof (await ask()).body.url, "string");
  await set("stopped");
  const refused = await ask();
  assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "endpoint_stopped", "endpoint"]);
  await set("active");
  assert.equal((await ask()).status, 200);
});

test("a deleted endpoint is unknown, also to held calls", async (t) => {
  const { app, owner, endpoint, ask, held } = await world(t);
  const answer = ask();
  await held(1);
  await app.call({ method: "DELETE", url: `/api/v0/endptjobs/${endpoint.id}/`, secret: owner.secret });
  assert.equal((await answer).status, 401);
  assert.equal((await ask()).status, 401);
});

test("draining takes effect with the notification, and given requests stay load until they are finished", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const [one, two] = [await aReadyWorker(app, owner, endpoint), await aReadyWorker(app, owner, endpoint)];
  const first = await ask({ cost: 10 });
  await setWorker(app, endpoint, one, { draining_at: app.clock.now(), draining_to: "stop" });
  for (let count = 0; count < 3; count += 1) assert.match((await ask()).body.url, new RegExp(`${30_000 + two}$`));
  const router = app.app.routers.of(endpoint.id);
  assert.deepEqual(router?.loadOf(one), { load: 10, requestCount: 1 });
  router?.finish(one, [first.body.request_idx], app.clock.now().getTime());
  assert.deepEqual(router?.loadOf(one), { load: 0, requestCount: 0 });
});

test("traffic is stored by the second, added up over servers, and deleted after a week", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  await ask({ cost: 3 });
  await app.runLoop("write-endpoint-load");
  await ask({ cost: 4 });
  await app.runLoop("write-endpoint-load");
  const stored = async () => (await app.env.pool.query("select request_count, load from endpoint_load")).rows;
  assert.deepEqual(await stored(), [{ request_count: 2, load: 7 }]);
  await app.runLoop("forget-endpoint-load");
  assert.equal((await stored()).length, 1);
  app.clock.advance(7 * 86_400_000 + 1_000);
  await app.runLoop("forget-endpoint-load");
  assert.deepEqual(await stored(), []);
});

test("a server with another secret cannot sign, says so, and gives no request away", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  await ask();
  const second = await testApp(t, { env: app.env, clock: app.clock });
  const body = { endpoint: endpoint.name, api_key: endpoint.key, cost: 1 };
  const refused = await second.call({ method: "POST", url: "/route/", body });
  assert.deepEqual([refused.status, refused.body.error], [503, "route_signing_key_sealed"]);
  assert.equal(second.app.routers.of(endpoint.id)?.loadOf(worker).requestCount, 0);
  await second.close();
});

test("a restarted server gives no number twice and takes up those that clients hold", async (t) => {
  const { app, owner, endpoint, ask, secret } = await world(t);
  const worker = await aReadyWorker(app, owner, endpoint);
  const { request_idx: held, reqnum } = (await ask()).body;
  const second = await testApp(t, { env: app.env, clock: app.clock, secret });
  const body = { endpoint: endpoint.name, api_key: endpoint.key, cost: 1 };
  const at = (server: TestApp, extra: object) =>
    server.call({ method: "POST", url: "/route/", body: { ...body, ...extra } });
  const fresh = await at(second, {});
  assert.ok(fresh.body.request_idx > held && fresh.body.reqnum > reqnum);
  assert.equal((await at(second, { request_idx: held })).body.request_idx, held);
  assert.equal((await at(app, { request_idx: fresh.body.request_idx })).body.request_idx, fresh.body.request_idx);
  // Each request is counted by the server that gave it away last, and reports reach any server.
  const settled = async () => {
    for (const server of [app, second]) await server.app.routers.settled();
    for (const server of [app, second]) await server.settled();
    return [app, second].map((server) => server.app.routers.of(endpoint.id)?.loadOf(worker).requestCount);
  };
  assert.deepEqual(await settled(), [1, 1]);
  second.app.routers.finish(endpoint.id, worker, [held, fresh.body.request_idx]);
  assert.deepEqual(await settled(), [0, 0]);
  await second.close();
});

test("many clients that move to another server at once, with numbers that it does not know, are taken up", async (t) => {
  const { app, owner, endpoint, ask } = await world(t);
  await aReadyWorker(app, owner, endpoint);
  await ask();
  for (let round = 1; round <= 2; round += 1) {
    const start = await withTransaction(app.env.database, app.clock, (tx) => takeRequestNumbers(tx, endpoint.id, 3));
    assert.ok(start !== undefined);
    const came = await Promise.all([0, 1, 2].map((place) => ask({ request_idx: start + place, cost: 1 })));
    assert.deepEqual(
      came.map(({ status, body }) => [status, body.request_idx]),
      [0, 1, 2].map((place) => [200, start + place]),
      `in the same second, for the ${round}. time`,
    );
  }
  const never = await ask({ request_idx: 1_000_000 });
  assert.deepEqual([never.status, never.body.field], [400, "request_idx"]);
});
