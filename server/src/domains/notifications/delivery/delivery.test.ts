import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test, type TestContext } from "node:test";

import { aCaller, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import {
  aReceiver,
  notificationsHttp,
  type Notifications,
  type ReceivedCall,
} from "../../../../../test/support/notifications.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { until } from "../../../../../test/support/until.ts";
import { markUserDeleted } from "../../people/accounts/users/store.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { postNotifications } from "../notification-store.ts";
import { AGE_MS_MAX } from "./rules/retry.ts";
import { WEBHOOK_TIMEOUT_MS } from "../webhooks/client.ts";

const WEBHOOKS = "/api/v0/webhooks/";
/** Below the ports that systems assign by themselves: no other process can listen there meanwhile. */
const NOBODYS_URL = "http://127.0.0.1:1/hook";

type Hook = { readonly id: number; readonly secret: string };

async function aHook(http: Notifications, { secret }: TestCaller, url: string): Promise<Hook> {
  const body = { webhook_url: url, event_types: ["client:low_credit"] };
  const made = await http.call({ method: "POST", url: WEBHOOKS, secret, body });
  assert.equal(made.status, 200, made.text);
  return { id: made.body.webhook.id, secret: made.body.webhook.webhook_secret };
}

async function tell(http: Notifications, { id }: TestCaller, ...keys: readonly string[]): Promise<void> {
  await withTransaction(http.scope.database, http.clock, (tx) =>
    postNotifications(
      tx,
      keys.map((key) => ({
        userId: id,
        kind: "client:low_credit" as const,
        subject: "Low credit",
        message: `Grüße: ${key}`,
        key,
      })),
    ),
  );
}

async function deliveriesOf(http: Notifications, { secret }: TestCaller) {
  const { body } = await http.call({ url: "/api/v0/notices/", secret });
  return body.notices.flatMap(({ deliveries }: { readonly deliveries: readonly object[] }) => deliveries);
}

/** Verifies a call like a receiver that knows only docs/notifications.md#webhooks. */
function verify({ headers, body }: ReceivedCall, secret: string): boolean {
  const signed = createHmac("sha256", secret)
    .update(`${String(headers["x-vast-timestamp"])}.`)
    .update(body)
    .digest("hex");
  return headers["x-vast-signature-256"] === `sha256=${signed}`;
}

async function set(t: TestContext): Promise<{ readonly http: Notifications; readonly caller: TestCaller }> {
  const http = await notificationsHttp(t, await testDatabase(t));
  return { http, caller: await aCaller(http.scope.database) };
}

test("a delivery carries the body, the headers and the signature of the contract, and happens once", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t);
  const hook = await aHook(http, caller, `${receiver.url}?a=b`);
  await tell(http, caller, "one");
  http.clock.advance(90_500);
  await http.deliver();
  await http.deliver();
  const [call, ...others] = receiver.calls;
  assert.ok(call !== undefined && others.length === 0);
  const eventId = call.headers["x-vast-event-id"];
  assert.deepEqual(JSON.parse(call.body.toString()), {
    event_id: eventId,
    user_id: caller.id,
    notif_type: "low_credit",
    subject: "Low credit",
    message: "Grüße: one",
    timestamp: Date.parse("2026-05-01T00:00:00Z") / 1000,
  });
  assert.equal(call.path, "/hook?a=b");
  assert.equal(call.headers["content-type"], "application/json");
  assert.equal(call.headers["x-vast-delivery-attempt"], "1");
  assert.equal(call.headers["x-vast-timestamp"], String(Date.parse("2026-05-01T00:01:30Z") / 1000));
  assert.ok(verify(call, hook.secret) && !verify(call, "whsec_another"));
  const url = `${WEBHOOKS}${hook.id}/deliveries/`;
  const listed = await http.call({ url: `${url}?limit=1`, secret: caller.secret });
  assert.deepEqual(
    listed.body.deliveries.map(({ event_id: id, outcome }: Record<string, unknown>) => [id, outcome]),
    [[eventId, "answered 200"]],
  );
  const stranger = await aCaller(http.scope.database);
  assert.equal((await http.call({ url, secret: stranger.secret })).body.error, "no_such_webhook");
  assert.equal((await http.call({ url: `${url}?limit=0`, secret: caller.secret })).body.field, "limit");
  assert.deepEqual(await deliveriesOf(http, caller), [
    {
      channel: "webhook",
      webhook_id: hook.id,
      state: "delivered",
      attempt_count: 1,
      outcome: "answered 200",
      next_attempt_at: null,
      ended_at: http.clock.now().getTime() / 1000,
    },
  ]);
});

test("a receiver's answer decides whether it is called again", async (t) => {
  const { http, caller } = await set(t);
  let status = 0;
  const receiver = await aReceiver(t, (_call, response) => {
    if (status >= 300 && status < 400) response.setHeader("location", "/elsewhere");
    response.statusCode = status;
    response.end("nobody keeps this");
  });
  const expected: readonly (readonly [number, string])[] = [
    [200, "delivered"],
    [204, "delivered"],
    [299, "delivered"],
    [301, "failed"],
    [302, "failed"],
    [307, "failed"],
    [308, "failed"],
    [400, "failed"],
    [401, "failed"],
    [404, "failed"],
    [410, "failed"],
    [408, "due"],
    [429, "due"],
    [500, "due"],
    [503, "due"],
  ];
  await aHook(http, caller, receiver.url);
  for (const [answered, state] of expected) {
    status = answered;
    const before = receiver.calls.length;
    await tell(http, caller, `answer ${answered}`);
    await http.deliver();
    const [newest] = await deliveriesOf(http, caller);
    assert.deepEqual([newest.state, newest.outcome, newest.attempt_count], [state, `answered ${answered}`, 1]);
    assert.equal(receiver.calls.length, before + 1);
  }
  assert.ok(
    receiver.calls.every(({ path }) => path === "/hook"),
    "a redirect was followed",
  );
});

test("a repetition is the same event, of the next attempt, with a signature of its own, and ends when it is accepted", async (t) => {
  const { http, caller } = await set(t);
  const answers = [503, 503, 200];
  const receiver = await aReceiver(t, (_call, response) => {
    response.statusCode = answers.shift() ?? 500;
    response.end();
  });
  const { secret } = await aHook(http, caller, receiver.url);
  await tell(http, caller, "one");
  for (let run = 1; run <= 4; run += 1) {
    await http.deliver();
    await http.deliver();
    http.clock.advance(60_000);
  }
  const headers = (name: string) => receiver.calls.map((call) => call.headers[name]);
  assert.deepEqual(headers("x-vast-delivery-attempt"), ["1", "2", "3"]);
  assert.equal(new Set(headers("x-vast-event-id")).size, 1);
  assert.equal(new Set(headers("x-vast-timestamp")).size, 3);
  assert.equal(new Set(receiver.calls.map(({ body }) => body.toString())).size, 1);
  assert.ok(receiver.calls.every((call) => verify(call, secret)));
  const [delivery] = await deliveriesOf(http, caller);
  assert.deepEqual([delivery.state, delivery.attempt_count], ["delivered", 3]);
});

test("a receiver that is gone is called for a day, less and less often, and then given up for good", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t, (_call, response) => {
    response.statusCode = 500;
    response.end();
  });
  await aHook(http, caller, receiver.url);
  await tell(http, caller, "one");
  const gaps: number[] = [];
  const startMs = http.clock.monotonicMs();
  for (;;) {
    await http.deliver();
    const [{ next_attempt_at: next }] = await deliveriesOf(http, caller);
    if (next === null) break;
    const waitMs = Math.ceil(next * 1000 - http.clock.now().getTime());
    gaps.push(waitMs);
    http.clock.advance(waitMs);
  }
  const [delivery] = await deliveriesOf(http, caller);
  assert.deepEqual([delivery.state, delivery.outcome], ["failed", "answered 500; given up"]);
  assert.equal(receiver.calls.length, gaps.length + 1);
  assert.ok(receiver.calls.length >= 15, `${receiver.calls.length} attempts`);
  assert.ok(http.clock.monotonicMs() - startMs <= AGE_MS_MAX);
  assert.ok((gaps[0] ?? 0) <= 15_000 && Math.max(...gaps) <= 7_200_000);
});

test("a receiver that does not answer in ten seconds is called again later", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t, () => {});
  await aHook(http, caller, receiver.url);
  await tell(http, caller, "one");
  await http.deliverer.run();
  await until("the receiver is called", () => receiver.calls.length === 1);
  http.clock.advance(WEBHOOK_TIMEOUT_MS);
  await http.deliverer.idle();
  const [delivery] = await deliveriesOf(http, caller);
  assert.deepEqual([delivery.state, delivery.outcome], ["due", "did not answer in time"]);
});

test("a status stands although the rest of the answer never ends, or is too much", async (t) => {
  const { http, caller } = await set(t);
  const bodies = [
    (response: { write(text: string): unknown }) => response.write("a"),
    (response: { write(text: string): unknown }) => response.write("a".repeat(1_000_000)),
  ];
  for (const write of bodies) {
    const receiver = await aReceiver(t, (_call, response) => void write(response));
    await aHook(http, caller, receiver.url);
    await tell(http, caller, receiver.url);
    await http.deliverer.run();
    await until("the receiver has answered", () => receiver.calls.length > 0);
    const over = http.deliverer.idle();
    let isOver = false;
    void over.then(() => (isOver = true));
    await until("the attempt ends", () => {
      http.clock.advance(WEBHOOK_TIMEOUT_MS / 4);
      return isOver;
    });
  }
  const states = (await deliveriesOf(http, caller)).map(({ state }: { readonly state: string }) => state);
  assert.ok(states.includes("delivered"), states.join());
});

test("a receiver that refuses connections is called again later", async (t) => {
  const { http, caller } = await set(t);
  await aHook(http, caller, NOBODYS_URL);
  await tell(http, caller, "one");
  await http.deliver();
  const [delivery] = await deliveriesOf(http, caller);
  assert.deepEqual([delivery.state, delivery.outcome], ["due", "could not be reached (ECONNREFUSED)"]);
});

test("slow receivers delay no other receiver", async (t) => {
  const { http } = await set(t);
  const [slow, quick] = [await aReceiver(t, () => {}), await aReceiver(t)];
  const crowd = await Promise.all(Array.from({ length: 12 }, () => aCaller(http.scope.database)));
  for (const caller of crowd) {
    await aHook(http, caller, slow.url);
    await tell(http, caller, ...Array.from({ length: 20 }, (_, index) => `k${index}`));
  }
  const other = await aCaller(http.scope.database);
  await aHook(http, other, quick.url);
  await http.deliverer.run();
  await until("all slow receivers are called", () => slow.calls.length >= crowd.length * 4);
  await tell(http, other, "one", "two");
  await http.deliverer.run();
  await until("the other is called meanwhile", () => quick.calls.length === 2);
  assert.equal(slow.calls.length, crowd.length * 4, "a user has more than its share under way");
  await http.deliverer.stop();
});

test("a receiver behind more slow ones than are called at once has its turn before theirs comes again", async (t) => {
  const { http } = await set(t);
  const [slow, quick] = [await aReceiver(t, () => {}), await aReceiver(t)];
  const crowd = await Promise.all(Array.from({ length: 32 }, () => aCaller(http.scope.database)));
  for (const caller of crowd) {
    await aHook(http, caller, slow.url);
    await tell(http, caller, ...Array.from({ length: 8 }, (_, index) => `k${index}`));
  }
  const other = await aCaller(http.scope.database);
  await aHook(http, other, quick.url);
  await tell(http, other, "one");
  await http.deliverer.run();
  await until("as many are called as can be", () => slow.calls.length === 128);
  assert.equal(quick.calls.length, 0);
  http.clock.advance(WEBHOOK_TIMEOUT_MS);
  await http.deliverer.idle();
  await http.deliverer.run();
  await until("the other is called", () => quick.calls.length === 1);
  await http.deliverer.stop();
});

test("webhooks of a deleted account are not called any more", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t);
  await aHook(http, caller, receiver.url);
  await tell(http, caller, "one");
  await inTransaction(http.scope.database, (tx) => markUserDeleted(tx, caller.id));
  await http.deliver();
  assert.equal(receiver.calls.length, 0);
});

test("two processes share what is due, and each delivery is made by one of them", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t);
  await aHook(http, caller, receiver.url);
  await tell(http, caller, ...Array.from({ length: 40 }, (_, index) => `k${index}`));
  const both = [http.deliverer, http.anotherDeliverer()];
  await until("all are delivered", async () => {
    await Promise.all(both.map((one) => one.run().then(() => one.idle())));
    return receiver.calls.length >= 40;
  });
  const ids = receiver.calls.map(({ headers }) => headers["x-vast-event-id"]);
  assert.deepEqual([ids.length, new Set(ids).size], [40, 40]);
});

test("deliveries that a dead process had claimed are tried again, and its late result changes nothing", async (t) => {
  const { http, caller } = await set(t);
  let isSilent = true;
  const receiver = await aReceiver(t, (_call, response) => void (isSilent ? undefined : response.end()));
  await aHook(http, caller, receiver.url);
  await tell(http, caller, "one");
  const dead = http.anotherDeliverer();
  await dead.run();
  await until("the receiver is called", () => receiver.calls.length === 1);
  await http.deliver();
  assert.equal(receiver.calls.length, 1, "it was claimed");
  isSilent = false;
  http.clock.jump(120_001);
  await http.deliver();
  assert.deepEqual(
    receiver.calls.map(({ headers }) => headers["x-vast-delivery-attempt"]),
    ["1", "2"],
  );
  await dead.stop();
  const [delivery] = await deliveriesOf(http, caller);
  assert.deepEqual([delivery.state, delivery.attempt_count, delivery.outcome], ["delivered", 2, "answered 200"]);
});

test("preferences and subscriptions decide who is called, and a deleted webhook never is again", async (t) => {
  const { http, caller } = await set(t);
  const receiver = await aReceiver(t);
  const hook = await aHook(http, caller, receiver.url);
  const { secret } = caller;
  const prefer = (webhooks: boolean) =>
    http.call({
      method: "PUT",
      url: "/api/v0/users/me/notification-prefs/",
      secret,
      body: { notification_preferences: { client: { low_credit: { webhooks } } } },
    });
  await prefer(false);
  await tell(http, caller, "silent");
  await http.deliver();
  await prefer(true);
  await inTransaction(http.scope.database, (tx) =>
    postNotifications(tx, [
      { userId: caller.id, kind: "client:outbid", subject: "s", message: "m", key: "another kind" },
    ]),
  );
  await http.deliver();
  assert.equal(receiver.calls.length, 0);
  await tell(http, caller, "told");
  await http.deliver();
  assert.equal(receiver.calls.length, 1);
  await tell(http, caller, "too late");
  await http.call({ method: "DELETE", url: `${WEBHOOKS}${hook.id}/`, secret });
  await http.deliver();
  assert.equal(receiver.calls.length, 1);
});

test("a test calls once with the event webhook_test and returns the outcome", async (t) => {
  const { http, caller } = await set(t);
  let status = 200;
  const receiver = await aReceiver(t, (_call, response) => {
    response.statusCode = status;
    response.end();
  });
  const hook = await aHook(http, caller, receiver.url);
  const ask = (headers = {}) =>
    http.call({ method: "POST", url: `${WEBHOOKS}${hook.id}/test/`, secret: caller.secret, headers });
  const once = { "idempotency-key": "test" };
  const [first, repeated] = [await ask(once), await ask(once)];
  assert.deepEqual(first.body, {
    success: true,
    msg: "The test event was delivered: the receiver answered 200.",
    webhook_id: hook.id,
    event_id: first.body.event_id,
  });
  assert.equal(repeated.text, first.text);
  assert.equal(receiver.calls.length, 1);
  const [call] = receiver.calls;
  assert.ok(call !== undefined && verify(call, hook.secret));
  assert.deepEqual(
    [JSON.parse(call.body.toString()).notif_type, call.headers["x-vast-delivery-attempt"]],
    ["webhook_test", "1"],
  );
  assert.equal(JSON.parse(call.body.toString()).event_id, first.body.event_id);
  status = 500;
  const failed = (await ask()).body;
  assert.deepEqual(failed, {
    success: false,
    msg: "The test event was not delivered: the receiver answered 500.",
    webhook_id: hook.id,
    event_id: failed.event_id,
  });
  http.clock.advance(86_400_000);
  await http.deliver();
  assert.equal(receiver.calls.length, 2);
});
