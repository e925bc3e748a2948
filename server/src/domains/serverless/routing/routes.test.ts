import assert from "node:assert/strict";
import { createVerify } from "node:crypto";
import { test } from "node:test";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { aReadyWorker, aRoutedEndpoint, setWorker } from "../../../../../test/support/serverless/routed-endpoint.ts";
import { addWorker } from "../endpoints/service.ts";
import { takeRequestNumbers } from "./route-store.ts";

test("a request gets a signed address at once, and a number that it keeps", async (t) => {
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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

test("a request without a worker is held and answered the moment that one is ready", async (t) => {
  const { app, owner, endpoint, ask, held } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask, held } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask, held } = await aRoutedEndpoint(t);
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
  const { app, endpoint, held } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask, held } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask, held } = await aRoutedEndpoint(t);
  const answer = ask();
  await held(1);
  await app.call({ method: "DELETE", url: `/api/v0/endptjobs/${endpoint.id}/`, secret: owner.secret });
  assert.equal((await answer).status, 401);
  assert.equal((await ask()).status, 401);
});

test("draining takes effect with the notification, and given requests stay load until they are finished", async (t) => {
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask, secret } = await aRoutedEndpoint(t);
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
  const { app, owner, endpoint, ask } = await aRoutedEndpoint(t);
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
