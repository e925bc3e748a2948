import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp } from "../../../../../../test/support/app.ts";
import { askFor, changeBid, rent, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

/** State fields by which published clients recognise an interruption. */
function statesOf(record: Record<string, unknown>) {
  return [record["actual_status"], record["cur_state"], record["next_state"], record["intended_status"]];
}

const INTERRUPTED = ["stopped", "stopped", "stopped", "stopped"];
const RUNNING = ["running", "running", "running", "running"];

test("a higher bid displaces a lower one, which shows stopped everywhere and resumes by itself", async (t) => {
  const world = await testApp(t);
  const [host, low, high] = [await world.host({ gpus: 2 }), await world.caller(), await world.caller()];
  const first = await rentAndRun(world, low, host, { size: 2, price: 0.4 });
  await world.settled();
  const second = await rent(world, high, host, { size: 2, price: 0.5 });
  assert.equal((await stored(world, first)).phase, "stopping");
  assert.equal((await stored(world, second)).phase, "scheduled", "it waits for the receipt");
  await host.obey();
  assert.deepEqual(statesOf(await show(world, low, first)), INTERRUPTED);
  assert.match((await show(world, low, first)).status_msg, /outbid/);
  assert.deepEqual(statesOf(await show(world, high, second)), RUNNING);
  assert.equal((await stored(world, first)).desired, "running");
  await world.assertBooks();
  await setState(world, high, second, "stopped");
  await host.obey();
  assert.deepEqual(statesOf(await show(world, low, first)), RUNNING);
  assert.equal((await stored(world, first)).generation, 2);
  await world.assertBooks();
});

test("on-demand takes the lowest bids of a full machine first, and only as many as it needs", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const low = await rentAndRun(world, user, host, { size: 1, price: 0.2 });
  const high = await rentAndRun(world, user, host, { size: 1, price: 0.25 });
  const certain = await rent(world, await world.caller(), host, { size: 1 });
  assert.deepEqual([(await stored(world, low)).phase, (await stored(world, high)).phase], ["stopping", "running"]);
  await host.obey();
  assert.equal((await stored(world, certain)).phase, "running");
  assert.equal((await stored(world, low)).phase, "scheduled");
  await host.obey();
  assert.deepEqual([...(await world.offersOf(host)).keys()], [1], "one device is left, held by a bid");
  await world.assertBooks();
});

test("raising a bid takes the devices back at once, and lowering it gives them up", async (t) => {
  const world = await testApp(t);
  const [host, one, other] = [await world.host({ gpus: 1 }), await world.caller(), await world.caller()];
  const first = await rentAndRun(world, one, host, { price: 0.2 });
  const second = await rentAndRun2(0.25);
  assert.deepEqual(statesOf(await show(world, one, first)), INTERRUPTED);
  assert.deepEqual((await changeBid(world, one, first, 0.3)).body, { success: true });
  await host.obey();
  assert.deepEqual(statesOf(await show(world, one, first)), RUNNING);
  assert.deepEqual(statesOf(await show(world, other, second)), INTERRUPTED);
  await changeBid(world, one, first, 0.22);
  await host.obey();
  assert.deepEqual(statesOf(await show(world, one, first)), INTERRUPTED);
  assert.deepEqual(statesOf(await show(world, other, second)), RUNNING);
  assert.equal((await show(world, one, first)).dph_base, 0.22);
  await world.assertBooks();

  async function rentAndRun2(price: number): Promise<number> {
    const id = await rent(world, other, host, { price });
    await host.obey();
    return id;
  }
});

test("the earlier of two equal bids keeps running", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  const first = await rentAndRun(world, user, host, { price: 0.2 });
  const refused = await askFor(world, user, host, { price: 0.2 });
  assert.equal(refused.status, 400);
  await host.obey();
  assert.equal((await stored(world, first)).phase, "running");
});

test("a bid below the one that would run now is created stopped, and the error names the instance", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  const other = await rentAndRun(world, await world.caller(), host, { price: 0.3 });
  const answer = await askFor(world, user, host, { price: 0.2 });
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.error, "bid_too_low");
  assert.ok(Number.isInteger(answer.body.new_contract) && Number.isInteger(answer.body.ask_id));
  const id = answer.body.new_contract;
  assert.deepEqual(statesOf(await show(world, user, id)), INTERRUPTED);
  assert.equal(typeof (await show(world, user, id)).status_msg, "string");
  await changeBid(world, user, id, 0.31);
  await host.obey();
  assert.deepEqual(statesOf(await show(world, user, id)), RUNNING);
  assert.equal((await stored(world, other)).phase, "scheduled");
  await world.assertBooks();
});

test("a bid that may not wait is refused whole", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  await rentAndRun(world, await world.caller(), host, { price: 0.3 });
  const answer = await askFor(world, user, host, { price: 0.2, cancel_unavail: true });
  assert.deepEqual([answer.status, answer.body.error, answer.body.new_contract], [410, "no_such_ask", undefined]);
  const { rows } = await world.env.pool.query("select count(*) from instances");
  assert.deepEqual(rows, [{ count: 1n }]);
  assert.equal((await creditOfUser(world, user)).held, 0n);
});

test("a bid below the host's minimum is refused at creation and later, with the minimum", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  for (const more of [{}, { cancel_unavail: true }, { target_state: "stopped" }]) {
    const answer = await askFor(world, user, host, { price: 0.299, size: 2, ...more });
    const { error, field, min_bid: minimum, new_contract: made } = answer.body;
    assert.deepEqual([answer.status, error, field, minimum, made], [400, "bid_below_minimum", "price", 0.3, undefined]);
    assert.match(answer.body.msg, /at least \$0\.3 an hour/);
  }
  const id = await rentAndRun(world, user, host, { price: 0.3, size: 2 });
  const answer = await changeBid(world, user, id, 0.001);
  assert.deepEqual([answer.status, answer.body.error, answer.body.min_bid], [400, "bid_below_minimum", 0.3]);
  assert.deepEqual(statesOf(await show(world, user, id)), RUNNING);
  assert.equal((await show(world, user, id)).dph_base, 0.3);
  await world.assertBooks();
});

test("a hold has the amount of the bid, and a raise that cannot be paid changes nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller({ dollars: 1 })];
  const id = await rentAndRun(world, user, host, { price: 0.2 });
  const before = (await creditOfUser(world, user)).held;
  await changeBid(world, user, id, 0.4);
  const raised = (await creditOfUser(world, user)).held;
  // Ten minutes of 20 cents an hour more.
  assert.equal(raised - before, 33_333_333n + (raised - before - 33_333_333n));
  assert.ok(raised - before >= 33_333_333n && raised - before <= 33_333_335n);
  const refused = await changeBid(world, user, id, 32);
  assert.deepEqual([refused.status, refused.body.error], [400, "insufficient_credit"]);
  assert.ok(refused.body.shortfall > 0);
  assert.equal((await show(world, user, id)).dph_base, 0.4);
  assert.equal((await creditOfUser(world, user)).held, raised);
  await world.assertBooks();
});

test("devices that an on-demand rental waits for are not promised to another rental", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const bid = await rentAndRun(world, user, host, { size: 2, price: 0.4 });
  const first = await rent(world, user, host, { size: 2 });
  const second = await askFor(world, await world.caller(), host, { size: 2 });
  assert.deepEqual([second.status, second.body.error], [410, "no_such_ask"]);
  await host.obey();
  assert.deepEqual([(await stored(world, bid)).phase, (await stored(world, first)).phase], ["scheduled", "running"]);
  await world.assertBooks();
});
