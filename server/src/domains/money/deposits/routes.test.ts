import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { depositBalance, listedHost, prepay } from "../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun } from "../../../../../test/support/rentals.ts";

test("invalid amounts are refused by the name of the field", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  for (const amount of [0, -1, 1e-10, 2 ** 53, 1e300, "5", true, null, undefined, [5], { amount: 5 }]) {
    const { status, body } = await prepay(world, user, id, amount);
    assert.deepEqual([status, body.error, body.field], [400, "invalid_args", "amount"], JSON.stringify(amount));
  }
  assert.equal((await prepay(world, user, id, 1e-9)).body.field, "amount", "too little for any discount");
  assert.equal((await depositBalance(world, user, id)).body.deposit, 0);
});

test("a renter can prepay only their own on-demand instances, and only when the host gives a discount", async (t) => {
  const world = await testApp(t);
  const [user, other] = [await world.caller({ dollars: 1000 }), await world.caller({ dollars: 1000 })];
  const [host, stingy] = [await listedHost(world, {}, { gpus: 2 }), await listedHost(world, { discountMax: 0 })];
  const id = await rentAndRun(world, user, host);
  for (const [as, target] of [
    [other, id],
    [user, 999_999],
    [user, 2 ** 40],
    [user, -1],
  ] as const) {
    const { status, body } = await prepay(world, as, target, 5);
    assert.deepEqual([status, body.success, body.error, body.msg], [400, false, "invalid_args", "No such instance"]);
    assert.equal((await depositBalance(world, as, target)).status, 404);
  }
  const bid = await rentAndRun(world, user, host, { price: 2 });
  assert.match((await prepay(world, user, bid, 5)).body.msg, /interruptible/);
  const dear = await rentAndRun(world, user, stingy);
  const refused = await prepay(world, user, dear, 5);
  assert.deepEqual([refused.status, /no discount/.test(refused.body.msg)], [400, true]);
  await destroy(world, user, id);
  assert.equal((await prepay(world, user, id, 5)).body.error, "invalid_args");
});

test("more than can be used until the end is refused, and the amount that the error names is accepted", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 30 }), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  const refused = await prepay(world, user, id, 576.01);
  assert.deepEqual([refused.status, refused.body.error, refused.body.max_amount], [400, "rental_too_long", 576]);
  assert.equal((await prepay(world, user, id, 300)).status, 200);
  assert.equal((await prepay(world, user, id, 300)).body.max_amount, 276);
  const full = await prepay(world, user, id, 276);
  assert.deepEqual([full.status, full.body.timescale, full.body.discount_rate], [200, 1, 0.2]);
  assert.equal((await prepay(world, user, id, 1)).body.max_amount, 0);
});

test("a repeated request with its key moves money once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  const call = () =>
    world.call({
      method: "PUT",
      url: `/api/v0/instances/prepay/${id}/`,
      secret: user.secret,
      body: { amount: 100 },
      headers: { "idempotency-key": "once" },
    });
  const answers = [await call(), await call(), await call()];
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await depositBalance(world, user, id)).body.deposit, 100);
  await world.assertBooks();
});
