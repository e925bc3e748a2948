import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import {
  changeBid,
  destroy,
  history,
  reboot,
  rent,
  rentAndRun,
  setState,
  show,
  stored,
} from "../../../../../../test/support/rentals.ts";

const NOTICE_MS = 30_000;
const SLICE_MS = 60_000;
/** Words that clients take for a failure of the instance (docs/contract-rules.md#words-of-an-instances-status). */
const FORBIDDEN = /error|failed|failure|exception|traceback|oci runtime|permission denied/i;

function fairApp(t: TestContext): Promise<TestApp> {
  return testApp(t, { rules: { noticeMs: NOTICE_MS, minSliceMs: SLICE_MS } });
}

async function twoRenters(t: TestContext, gpus = 1) {
  const world = await fairApp(t);
  return { world, host: await world.host({ gpus }), low: await world.caller(), high: await world.caller() };
}

async function phaseOf(world: TestApp, id: number): Promise<string> {
  return (await stored(world, id)).phase;
}

async function eventsOf(world: TestApp, user: TestCaller, id: number) {
  const answer = await world.call({ url: `/api/v0/instances/${id}/events/`, secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.events;
}

/** Lets the time of an eviction notice pass, and the instances under it stop. */
async function passNotice(world: TestApp, host: FakeHost): Promise<void> {
  world.clock.jump(NOTICE_MS + 1);
  await world.runLoop("enforce-deadlines");
  await host.obey();
}

test("an outbid instance runs on under an eviction notice, is told so, stops after its time, and resumes by itself", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const env = { CHECKPOINT_COMMAND: "save /workspace" };
  const first = await rentAndRun(world, low, host, { price: 0.2, env });
  assert.equal(host.order(first)?.checkpoint_command, "save /workspace");
  assert.equal(host.order(first)?.notice, undefined);
  const second = await rent(world, high, host, { price: 0.5 });
  await host.obey();
  const order = host.order(first);
  assert.deepEqual([order?.run, order?.notice?.reason, order?.notice?.remaining_ms], ["running", "outbid", NOTICE_MS]);
  world.clock.jump(9_000);
  const told = await show(world, low, first);
  assert.deepEqual([told.actual_status, told.intended_status, told.cur_state], ["running", "running", "running"]);
  assert.equal(told.status_msg, "outbid: stops in 21 s; its data is kept and it resumes by itself");
  const noticedAt = world.clock.now().getTime() / 1000 - 9;
  assert.deepEqual(told.interruption, {
    reason: "outbid",
    noticed_at: noticedAt,
    stops_at: noticedAt + 30,
    winning_bid: 0.5,
    bid_to_run_now: 0.501,
  });
  assert.equal(told.waiting_for, null);
  const waits = await show(world, high, second);
  assert.deepEqual([waits.waiting_for.reason, waits.waiting_for.ahead, waits.interruption], ["devices", 0, null]);
  assert.deepEqual([waits.intended_status, waits.cur_state], ["running", "stopped"], "it does not look outbid");
  await passNotice(world, host);
  assert.equal(await phaseOf(world, second), "running");
  const stopped = await show(world, low, first);
  assert.deepEqual(
    [stopped.actual_status, stopped.intended_status, stopped.next_state],
    ["stopped", "stopped", "stopped"],
  );
  assert.match(stopped.status_msg, /^outbid: /);
  await destroy(world, high, second);
  await host.obey();
  assert.equal(await phaseOf(world, first), "scheduled", "its minimum slice is not over");
  assert.equal((await show(world, low, first)).waiting_for.reason, "slice");
  world.clock.jump(SLICE_MS);
  assert.deepEqual(await world.runLoop("review-schedules"), { reviewed: 1 });
  await host.obey();
  assert.equal(await phaseOf(world, first), "running");
  assert.deepEqual(
    (await history(world, first)).map(([, to, cause]) => `${to} ${cause}`),
    [
      "starting created",
      "running container_running",
      "yielding outbid",
      "stopping deadline_passed",
      "scheduled container_stopped",
      "starting devices_granted",
      "running container_running",
    ],
  );
  assert.deepEqual(await world.runLoop("review-schedules"), { reviewed: 0 });
  await world.assertBooks();
});

test("an agent that is done before the notice is over gives the devices back at once", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const version = host.desired?.version ?? 0;
  const second = await rent(world, high, host, {});
  const stoppedSeen = [{ instance_id: first, generation: 1, state: "stopped" as const }];
  await host.synced();
  await host.report(stoppedSeen, { version });
  assert.equal(await phaseOf(world, first), "yielding", "the host looked before it got the order");
  await host.report(stoppedSeen);
  assert.deepEqual([await phaseOf(world, first), await phaseOf(world, second)], ["scheduled", "starting"]);
  assert.match((await show(world, low, first)).status_msg, /^outbid: /);
  await host.obey();
  assert.equal(await phaseOf(world, second), "running");
  await world.assertBooks();
});

test("an instance whose bid is raised in time stays, and the other one goes on waiting", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const second = await rent(world, high, host, { price: 0.5 });
  await host.obey();
  world.clock.jump(1_000);
  const { bid_to_run_now: bid } = (await show(world, low, first)).interruption;
  assert.equal((await changeBid(world, low, first, bid - 0.001)).status, 200);
  assert.equal(await phaseOf(world, first), "yielding");
  assert.equal((await changeBid(world, low, first, bid)).status, 200);
  assert.equal(await phaseOf(world, first), "running");
  await host.obey();
  assert.equal(host.order(first)?.notice, undefined);
  assert.equal((await show(world, low, first)).interruption, null);
  const waiting = await show(world, high, second);
  assert.deepEqual(waiting.waiting_for, {
    reason: "outbid",
    ahead: 0,
    winning_bid: 0.501,
    bid_to_run_now: 0.502,
    resumes_no_earlier_than: null,
  });
  assert.equal(waiting.min_bid, 0.502);
  await passNotice(world, host);
  assert.equal(await phaseOf(world, first), "running");
  assert.equal((await stored(world, first)).generation, 1);
  await world.assertBooks();
});

test("an eviction notice is withdrawn when the higher claim goes away", async (t) => {
  const { world, host, low, high } = await twoRenters(t, 2);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const other = await rentAndRun(world, low, host, { price: 0.3 });
  const second = await rent(world, high, host, {});
  assert.deepEqual([await phaseOf(world, first), await phaseOf(world, other)], ["yielding", "running"]);
  await setState(world, high, second, "stopped");
  assert.equal(await phaseOf(world, first), "running");
  await setState(world, high, second, "running");
  assert.equal(await phaseOf(world, first), "yielding");
  // Another device comes free, so nobody has to leave any more.
  await destroy(world, low, other);
  await host.obey();
  assert.deepEqual([await phaseOf(world, first), await phaseOf(world, second)], ["running", "running"]);
  await world.assertBooks();
});

test("the owner of an instance under an eviction notice may stop or destroy it at once, but not restart it", async (t) => {
  const { world, host, low, high } = await twoRenters(t, 2);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const other = await rentAndRun(world, low, host, { price: 0.2 });
  const second = await rent(world, high, host, { size: 2 });
  const refused = await reboot(world, low, first);
  assert.deepEqual([refused.status, refused.body.error], [409, "under_notice"]);
  await setState(world, low, first, "stopped");
  await destroy(world, low, other);
  assert.deepEqual([await phaseOf(world, first), await phaseOf(world, other)], ["stopping", "ending"]);
  await host.obey();
  assert.equal(await phaseOf(world, second), "running");
  assert.equal((await show(world, low, first)).waiting_for, null);
  await world.assertBooks();
});

test("a resumed instance is spared by other bids for the minimum slice, but not by on-demand rentals", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const certain = await rent(world, high, host, {});
  await host.obey();
  await passNotice(world, host);
  await destroy(world, high, certain);
  await host.obey();
  world.clock.jump(SLICE_MS);
  await world.runLoop("review-schedules");
  await host.obey();
  assert.equal(await phaseOf(world, first), "running");
  const second = await rent(world, high, host, { price: 0.6 });
  await host.obey();
  assert.deepEqual([await phaseOf(world, first), await phaseOf(world, second)], ["running", "scheduled"]);
  const waiting = await show(world, high, second);
  assert.deepEqual([waiting.waiting_for.reason, waiting.waiting_for.bid_to_run_now], ["slice", null]);
  world.clock.jump(SLICE_MS - 1);
  assert.deepEqual(await world.runLoop("review-schedules"), { reviewed: 0 });
  world.clock.jump(1);
  assert.deepEqual(await world.runLoop("review-schedules"), { reviewed: 1 });
  assert.equal(await phaseOf(world, first), "yielding");
  await world.assertBooks();
});

test("a host's own job leaves without an eviction notice, for the lowest bid too, and comes back when the machine is idle", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const own = await rentAndRun(world, low, host, { price: 0.9 });
  await world.env.pool.query("update instances set is_background = true where id = $1", [own]);
  await world.env.pool.query("update leases set price_nanos_per_device_hour = 0 where instance_id = $1", [own]);
  const second = await rent(world, high, host, { price: 0.15 });
  assert.equal(await phaseOf(world, own), "stopping");
  await host.obey();
  assert.deepEqual([await phaseOf(world, own), await phaseOf(world, second)], ["scheduled", "running"]);
  world.clock.jump(SLICE_MS);
  await destroy(world, high, second);
  await host.obey();
  assert.equal(await phaseOf(world, own), "running");
});

test("a bid of null is the lowest that runs, and anything else out of range is refused by name", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const second = await rentAndRun(world, high, await world.host({ gpus: 1 }), { price: 0.3 });
  assert.equal((await changeBid(world, high, second, null)).status, 200);
  assert.equal((await show(world, high, second)).dph_base, 0.15, "without other claims: the host's minimum");
  const outbid = await rent(world, high, host, { price: 0.4 });
  await passNotice(world, host);
  assert.equal((await changeBid(world, low, first, null)).status, 200);
  assert.equal((await show(world, low, first)).dph_base, 0.401);
  assert.equal(await phaseOf(world, outbid), "yielding");
  for (const price of [0.0009, 0, -1, 32.001, 2 ** 53, 1e300, "much", [], {}, true]) {
    const answer = await changeBid(world, low, first, price);
    assert.deepEqual([answer.status, answer.body.field], [400, "price"], `${JSON.stringify(price)} ${answer.text}`);
  }
  const missing = await world.call({
    method: "PUT",
    url: `/api/v0/instances/bid_price/${first}/`,
    secret: low.secret,
    body: { client_id: "me" },
  });
  assert.deepEqual([missing.status, missing.body.field], [400, "price"]);
  await world.assertBooks();
});

test("the history of an instance tells its owner alone in words what happened, newest first", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  await rent(world, high, host, {});
  await passNotice(world, host);
  const events = await eventsOf(world, low, first);
  assert.deepEqual(
    events.map((event: Record<string, unknown>) => [event["actor"], event["cause"], event["from"], event["to"]]),
    [
      ["host", "container_stopped", "stopping", "scheduled"],
      ["rule", "deadline_passed", "yielding", "stopping"],
      ["market", "on_demand", "running", "yielding"],
      ["host", "container_running", "starting", "running"],
      ["user", "created", null, "starting"],
    ],
  );
  for (const { message } of events) assert.match(message, /^[A-Z].*\.$/);
  const url = `/api/v0/instances/${first}/events/`;
  const newest = await world.call({ url: `${url}?limit=1`, secret: low.secret });
  assert.deepEqual(newest.body.events, events.slice(0, 1));
  for (const limit of ["0", "501", "x"]) {
    assert.equal((await world.call({ url: `${url}?limit=${limit}`, secret: low.secret })).status, 400);
  }
  assert.equal((await world.call({ url, secret: high.secret })).status, 404);
});

test("no message about an interruption has a word that clients take for a failure", async (t) => {
  const { world, host, low, high } = await twoRenters(t);
  const first = await rentAndRun(world, low, host, { price: 0.2 });
  const seen: string[] = [];
  const look = async () => {
    for (const id of [first, second]) {
      const record = await show(world, id === first ? low : high, id);
      seen.push(record.status_msg);
    }
  };
  const second = await rent(world, high, host, {});
  await look();
  await passNotice(world, host);
  await look();
  world.clock.jump(SLICE_MS);
  await look();
  await host.disconnect();
  world.clock.jump(SLICE_MS);
  const away = await show(world, low, first);
  assert.equal(away.waiting_for.reason, "host");
  await look();
  for (const text of seen) assert.doesNotMatch(text, FORBIDDEN);
  assert.ok(seen.some((text) => text.includes("on-demand rental")));
});
