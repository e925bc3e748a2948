// An instance that is being stopped because nothing more can be held for it is paid until it has stopped.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rent, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

const SECOND_MS = 1_000;

/** Sets a cap that leaves nothing to spend. */
async function capOfNothing(world: TestApp, user: TestCaller): Promise<void> {
  const body = { scope: "account", period: "total", limit: 0 };
  const answer = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
}

/** Transfers all credit that can be transferred to another account; returns true when any could. */
async function giveAway(world: TestApp, user: TestCaller, other: TestCaller): Promise<boolean> {
  const { available } = await creditOfUser(world, user);
  if (available <= 0n) return false;
  const body = { sender: "me", recipient: String(other.id), amount: Number(available) / 1e9 };
  const url = "/api/v0/commands/transfer_credit/";
  const answer = await world.call({ method: "PUT", url, secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return true;
}

/** The charges for an instance on a machine at $3 an hour, in nano-dollars. */
async function charged(world: TestApp, id: number) {
  const lines = (await linesOf(world, id)).filter(({ component }) => component === "gpu");
  const sum = (of: "amount_nanos" | "unpaid_nanos") => lines.reduce((all, line) => all + line[of], 0n);
  return { paid: sum("amount_nanos"), unpaid: sum("unpaid_nanos") };
}

async function aWorld(t: TestContext, dollars = 100) {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  return { world, host, user: await world.caller({ dollars }), other: await world.caller() };
}

test("the rest of used-up credit cannot be given away before the run has stopped", async (t) => {
  const { world, host, user, other } = await aWorld(t, 0.51);
  const id = await rentAndRun(world, user, host);
  world.clock.jump(540 * SECOND_MS);
  await host.count();
  await settleNow(world);
  while ((await stored(world, id)).desired === "running") {
    world.clock.jump(15 * SECOND_MS);
    await host.count();
    await world.runLoop("settle-runs");
  }
  await giveAway(world, user, other);
  const again = await setState(world, user, id, "running");
  assert.equal(again.body.error, "insufficient_credit", "the instance cannot start before it has stopped");
  world.clock.jump(10 * SECOND_MS);
  await host.count();
  await settleNow(world);
  const { paid, unpaid } = await charged(world, id);
  assert.equal(unpaid, 0n);
  assert.ok(paid > 460_000_000n, `of $0.51 $${Number(paid) / 1e9} is used`);
  await world.assertBooks();
});

for (const isAway of [false, true]) {
  const state = isAway ? "while its host is away" : "by a cap of nothing";
  test(`credit that a run needs which is stopped ${state} cannot be given away`, async (t) => {
    const { world, host, user, other } = await aWorld(t);
    const id = await rentAndRun(world, user, host);
    await settleNow(world);
    if (isAway) await host.disconnect();
    world.clock.jump(240 * SECOND_MS);
    await capOfNothing(world, user);
    await world.runLoop("settle-runs");
    assert.ok(await giveAway(world, user, other));
    assert.equal((await setState(world, user, id, "running")).body.error, "cap_reached");
    world.clock.jump(10 * SECOND_MS);
    if (isAway) await host.connect();
    await host.count();
    await settleNow(world);
    assert.equal((await show(world, user, id)).actual_status, "stopped");
    const { paid, unpaid } = await charged(world, id);
    assert.equal(unpaid, 0n);
    assert.ok(paid >= 200_000_000n);
    await world.assertBooks();
  });
}

test("a cap of nothing stops an instance that is still loading, so that it never runs unpaid", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await rent(world, user, host);
  await capOfNothing(world, user);
  await world.runLoop("settle-runs");
  const { desired, hold, cause } = await stored(world, id);
  assert.deepEqual({ desired, hold, cause }, { desired: "stopped", hold: null, cause: "cap_reached" });
  const { body } = await world.call({ url: "/api/v0/caps/", secret: user.secret });
  assert.equal(body.caps[0].held, 0);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await charged(world, id), { paid: 0n, unpaid: 0n });
  await world.assertBooks();
});

test("a cap that can pay for the start lets a loading instance go on", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await rent(world, user, host);
  const body = { scope: "account", period: "total", limit: 0.5 };
  assert.equal((await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body })).status, 200);
  await world.runLoop("settle-runs");
  const { desired, hold } = await stored(world, id);
  assert.equal(desired, "running");
  assert.notEqual(hold, null);
  await world.assertBooks();
});
