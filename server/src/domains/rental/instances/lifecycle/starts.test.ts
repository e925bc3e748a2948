import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, destroy, rent, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

const MINUTE_MS = 60_000;

/** Reports the run of one instance as failed, and all others as ordered. */
async function fail(host: FakeHost, id: number, fault: "host" | "image" | undefined): Promise<void> {
  await host.synced();
  const seen = host.obedience().map((one) => {
    if (one.instance_id !== id) return one;
    const failed = { ...one, state: "failed" as const, status_msg: "no space left on device" };
    return fault === undefined ? failed : { ...failed, fault };
  });
  await host.report(seen);
}

/** Rents, fails and gives up. */
async function rentInVain(world: TestApp, user: TestCaller, host: FakeHost, fault: "host" | "image" | undefined) {
  const id = await rent(world, user, host);
  await fail(host, id, fault);
  await destroy(world, user, id);
  await host.obey();
  await world.settled();
}

async function isRentable(world: TestApp, host: FakeHost): Promise<boolean> {
  await world.settled();
  const body = { machine_id: { eq: host.machineId }, rentable: { eq: true } };
  const answer = await world.call({ method: "POST", url: "/api/v0/bundles/", body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.offers.length > 0;
}

async function startsOf(world: TestApp, host: FakeHost): Promise<readonly number[]> {
  const { body } = await world.call({ url: `/api/v0/machines/${host.machineId}/reliability/` });
  return [body.days[0]?.starts_succeeded ?? 0, body.days[0]?.starts_failed ?? 0];
}

test("a machine whose starts fail leaves the search for a while, keeps what runs, and comes back by itself", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 3 });
  const renters = await Promise.all([1, 2, 3, 4].map(() => world.caller()));
  const [steady, ...others] = renters as [TestCaller, ...TestCaller[]];
  const kept = await rentAndRun(world, steady, host);
  for (const renter of others) {
    assert.equal(await isRentable(world, host), true);
    await rentInVain(world, renter, host, "host");
  }
  assert.deepEqual(await startsOf(world, host), [1, 3]);
  assert.equal(await isRentable(world, host), false);
  const refused = await askFor(world, steady, host);
  assert.deepEqual([refused.status, refused.body.error], [410, "no_such_ask"]);
  assert.equal((await show(world, steady, kept)).actual_status, "running");
  // An instance that was rented there may still be stopped and started.
  await setState(world, steady, kept, "stopped");
  await host.obey();
  await setState(world, steady, kept, "running");
  await host.obey();
  assert.equal((await show(world, steady, kept)).actual_status, "running");
  world.clock.jump(10 * MINUTE_MS);
  assert.equal(await isRentable(world, host), true, "without any action");
  assert.deepEqual(await world.runLoop("end-rests"), { machines: 1 });
  await rentAndRun(world, steady, host);
  assert.equal(await isRentable(world, host), true);
});

test("hostile renters cannot bring a machine down with images that fail, in any number", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  for (let renters = 0; renters < 4; renters += 1) {
    const renter = await world.caller();
    await rentInVain(world, renter, host, "image");
    await rentInVain(world, renter, host, undefined);
  }
  assert.equal(await isRentable(world, host), true);
  assert.deepEqual(await startsOf(world, host), [0, 0]);
});

test("one renter whose starts fail again and again counts once, and the rest of the market goes on", async (t) => {
  const world = await testApp(t);
  const [host, renter] = [await world.host(), await world.caller()];
  for (let tries = 0; tries < 5; tries += 1) await rentInVain(world, renter, host, "host");
  assert.deepEqual(await startsOf(world, host), [0, 1]);
  assert.equal(await isRentable(world, host), true);
});

test("a start that fails first and works in the end counts as working", async (t) => {
  const world = await testApp(t);
  const [host, renter] = [await world.host(), await world.caller()];
  const id = await rent(world, renter, host);
  await fail(host, id, "host");
  await fail(host, id, "host");
  assert.deepEqual(await startsOf(world, host), [0, 1]);
  await host.obey();
  assert.deepEqual(await startsOf(world, host), [1, 0]);
});

test("a start without an answer in its time counts against the host, one that still fetches its image does not", async (t) => {
  const world = await testApp(t);
  const [silent, slow] = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const renter = await world.caller();
  await rent(world, renter, silent);
  const fetched = await rent(world, renter, slow);
  for (const host of [silent, slow]) {
    await host.synced();
    const state = host === slow ? "pulling" : "starting";
    await host.report(host.obedience().map((one) => ({ ...one, state })));
  }
  world.clock.jump(60 * MINUTE_MS + 1);
  await world.runLoop("enforce-deadlines");
  assert.equal((await show(world, renter, fetched)).intended_status, "stopped");
  assert.deepEqual(await startsOf(world, silent), [0, 1]);
  assert.deepEqual(await startsOf(world, slow), [0, 0]);
});

test("a start that cannot be paid changes neither the instance nor those that would leave for it, alone or beside others", async (t) => {
  const world = await testApp(t);
  // Credit for ten minutes of one instance, and not of two.
  const [user, bidder] = [await world.caller({ dollars: 0.08 }), await world.caller()];
  const hosts = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const ids: number[] = [];
  for (const host of hosts) {
    const id = await rentAndRun(world, user, host);
    assert.equal((await setState(world, user, id, "stopped")).status, 200);
    await host.obey();
    await world.runLoop("settle-runs");
    ids.push(id);
  }
  const [paid = 0, poor = 0] = ids;
  const bidId = await rentAndRun(world, bidder, hosts[1] as FakeHost, { price: 0.2 });
  const [poorBefore, bidBefore] = [await stored(world, poor), await stored(world, bidId)];
  assert.deepEqual([poorBefore.phase, poorBefore.hold, bidBefore.phase], ["stopped", null, "running"]);
  const both = await world.call({
    method: "PUT",
    url: "/api/v0/instances/",
    secret: user.secret,
    body: { ids, state: "running" },
  });
  assert.equal(both.status, 200, both.text);
  const results: readonly { readonly error?: string }[] = both.body.results;
  assert.deepEqual(
    results.map(({ error }) => error),
    [undefined, "insufficient_credit"],
  );
  const alone = await setState(world, user, poor, "running");
  assert.deepEqual([alone.status, alone.body.error], [400, "insufficient_credit"]);
  assert.deepEqual([await stored(world, poor), await stored(world, bidId)], [poorBefore, bidBefore]);
  assert.equal((await stored(world, paid)).leases, 1);
  await world.assertBooks();
});
