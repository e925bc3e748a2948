import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aReceiver } from "../../../../../test/support/notifications.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";

const HOUR_MS = 3_600_000;

/** A user's notifications, oldest first: kind and subject. */
async function toldTo({ call }: TestApp, { secret }: TestCaller): Promise<readonly (readonly [string, string])[]> {
  const { body } = await call({ url: "/api/v0/notices/?limit=100", secret });
  return body.notices
    .map(({ type, subject }: { readonly type: string; readonly subject: string }) => [type, subject] as const)
    .toReversed();
}

async function kindsTold(app: TestApp, user: TestCaller): Promise<readonly string[]> {
  return (await toldTo(app, user)).map(([kind]) => kind);
}

async function rent(app: TestApp, host: Awaited<ReturnType<TestApp["host"]>>, renter: TestCaller, body = {}) {
  const offer = (await app.offersOf(host)).get(1);
  const url = `/api/v0/asks/${offer}/`;
  const made = await app.call({
    method: "PUT",
    url,
    secret: renter.secret,
    body: { image: "alpine", disk: 10, ...body },
  });
  assert.equal(made.status, 200, made.text);
  await app.settled();
  return Number(made.body.new_contract);
}

async function setting(t: TestContext) {
  const app = await testApp(t);
  const [owner, renter] = [await app.caller(), await app.caller()];
  const host = await app.host({ owner, gpus: 1 });
  return { app, owner, renter, host };
}

test("a lost machine is told once to its host and its renters, and so is its return", async (t) => {
  const { app, owner, renter, host } = await setting(t);
  const id = await rent(app, host, renter);
  await app.runLoop("tell-lost-machines");
  await host.disconnect();
  app.clock.advance(HOUR_MS);
  for (let run = 1; run <= 2; run += 1) await app.runLoop("tell-lost-machines");
  assert.deepEqual(await toldTo(app, owner), [["host:machine_offline", `Machine ${host.machineId} is offline`]]);
  assert.deepEqual(await toldTo(app, renter), [["client:instance_offline", `Instance ${id} is offline`]]);
  await host.connect();
  await app.settled();
  for (let run = 1; run <= 2; run += 1) await app.runLoop("tell-lost-machines");
  assert.deepEqual(await kindsTold(app, owner), ["host:machine_offline", "host:machine_online"]);
  assert.deepEqual(await kindsTold(app, renter), ["client:instance_offline", "client:instance_online"]);
});

test("a rental's end is told a day before, and a listing's a week before, once each", async (t) => {
  const { app, owner, renter, host } = await setting(t);
  const id = await rent(app, host, renter);
  const endAt = new Date(app.clock.now().getTime() + 30 * 24 * HOUR_MS);
  await app.env.pool.query("update machines set offer_duration_s = null, offer_end_at = $2 where id = $1", [
    host.machineId,
    endAt,
  ]);
  await app.env.pool.query("update instances set end_at = $2 where id = $1", [id, endAt]);
  for (const [hours, toHost, toRenter] of [
    [22 * 24, 0, 0],
    [30, 1, 0],
    [5 * 24 + 20, 1, 1],
    [1, 1, 1],
  ] as const) {
    app.clock.jump(hours * HOUR_MS);
    await app.runLoop("tell-ends");
    assert.deepEqual(
      [(await kindsTold(app, owner)).length, (await kindsTold(app, renter)).length],
      [toHost, toRenter],
      `after ${hours} more hours`,
    );
  }
  assert.deepEqual(await kindsTold(app, owner), ["host:listing_ending"]);
  assert.deepEqual(await kindsTold(app, renter), ["client:expiring_soon"]);
});

test("a maintenance is told to renters and host, and a report to the host without its author", async (t) => {
  const { app, owner, renter, host } = await setting(t);
  await rent(app, host, renter);
  const sdate = app.clock.now().getTime() / 1000 + 7_200;
  const planned = await app.call({
    method: "PUT",
    url: `/api/v0/machines/${host.machineId}/dnotify/`,
    secret: owner.secret,
    body: { client_id: "me", sdate, duration: 2 },
  });
  assert.equal(planned.status, 200, planned.text);
  const report = { problem: "slow disk", message: "reads take seconds" };
  const url = `/api/v0/machines/${host.machineId}/report/`;
  for (let time = 1; time <= 2; time += 1) {
    const sent = await app.call({ method: "PUT", url, secret: renter.secret, body: report });
    assert.equal(sent.status, 200, sent.text);
  }
  assert.deepEqual(await kindsTold(app, renter), ["client:maintenance_scheduled"]);
  assert.deepEqual(await kindsTold(app, owner), ["host:maintenance_scheduled", "host:machine_reported"]);
  const { text } = await app.call({ url: "/api/v0/notices/", secret: owner.secret });
  assert.ok(!text.includes(renter.email));
});

test("events of an instance are told to users who asked for them, and being outbid to everybody", async (t) => {
  const { app, host } = await setting(t);
  const [asking, rival] = [await app.caller(), await app.caller()];
  const events = ["created", "started", "stopped", "resumed", "deleted"].map((event) => `client:instance_${event}`);
  const hook = { webhook_url: "https://192.0.2.1/", event_types: events };
  const made = await app.call({ method: "POST", url: "/api/v0/webhooks/", secret: asking.secret, body: hook });
  assert.equal(made.status, 200, made.text);
  const first = await rent(app, host, asking, { price: 0.5 });
  await host.obey();
  await app.settled();
  assert.deepEqual(await kindsTold(app, asking), ["client:instance_created", "client:instance_started"]);
  await rent(app, host, rival);
  assert.deepEqual(await kindsTold(app, rival), [], "who asked for nothing hears of nothing usual");
  await host.obey();
  await app.settled();
  assert.deepEqual((await kindsTold(app, asking)).slice(2), ["client:outbid", "client:instance_stopped"]);
  await app.call({ method: "DELETE", url: `/api/v0/instances/${first}/`, secret: asking.secret });
  await host.obey();
  await app.settled();
  assert.equal((await kindsTold(app, asking)).at(-1), "client:instance_deleted");
});

test("a webhook is called as soon as the fact is committed, without anybody waiting for a period", async (t) => {
  const receiver = await aReceiver(t);
  const app = await testApp(t, { notifications: { isPrivateAllowed: true } });
  const owner = await app.caller();
  const host = await app.host({ owner });
  const hook = { webhook_url: receiver.url, event_types: ["host:maintenance_scheduled"] };
  const made = await app.call({ method: "POST", url: "/api/v0/webhooks/", secret: owner.secret, body: hook });
  assert.equal(made.status, 200, made.text);
  const sdate = app.clock.now().getTime() / 1000 + 7_200;
  const body = { client_id: "me", sdate, duration: 2 };
  await app.call({ method: "PUT", url: `/api/v0/machines/${host.machineId}/dnotify/`, secret: owner.secret, body });
  await soon("the webhook is called", () => receiver.calls.length === 1);
  assert.equal(JSON.parse(String(receiver.calls[0]?.body)).notif_type, "maintenance_scheduled");
});

test("credit from others is told in one notification for all that came in since the last", async (t) => {
  // Later than the event of the first credit, which has the real time.
  const app = await testApp(t, { clock: new ManualClock("2040-01-01T00:00:00Z") });
  const [giver, taker] = [await app.caller(), await app.caller({ dollars: 0 })];
  const stranger = await app.caller();
  // Too little to be worth a mail: it could cause mails by the thousand.
  const dust = { recipient: giver.email, amount: 0.009 };
  await app.call({ method: "PUT", url: "/api/v0/commands/transfer_credit/", secret: stranger.secret, body: dust });
  for (const amount of [1, 2.5]) {
    const sent = await app.call({
      method: "PUT",
      url: "/api/v0/commands/transfer_credit/",
      secret: giver.secret,
      body: { recipient: taker.email, amount },
    });
    assert.equal(sent.status, 200, sent.text);
  }
  await app.runLoop("tell-credit-received");
  assert.deepEqual(await toldTo(app, taker), [], "they may not be complete yet");
  app.clock.advance(60_000);
  for (let run = 1; run <= 2; run += 1) await app.runLoop("tell-credit-received");
  assert.deepEqual(await toldTo(app, taker), [["client:credit_transfer_received", "You received $3.5 of credit"]]);
  assert.deepEqual(await toldTo(app, giver), []);
});
