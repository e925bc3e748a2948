import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import { depositBalance, listedHost, pass, prepay } from "../../../../../../test/support/money/contracts.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, rentAndRun, setState } from "../../../../../../test/support/rentals.ts";
import { accruedOf } from "./accrued.ts";
import { readBalance } from "./balance.ts";

const MINUTE = 60_000;
const DOLLAR = 1_000_000_000n;

const accrued = ({ env, clock }: TestApp, user: TestCaller) => accruedOf(env.database.kysely, clock.now(), user.id);
const balance = ({ env, clock }: TestApp, user: TestCaller) => readBalance(env.database.kysely, clock.now(), user.id);

test("the accrual equals the charge of the next settlement, for running, waiting and stopped instances", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 3 }), await world.caller()];
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.push(await rentAndRun(world, user, host));
  await pass(world, host, 7 * MINUTE);
  await setState(world, user, ids[1]!, "stopped");
  await host.count();
  await pass(world, host, 50 * MINUTE + 123);
  await destroy(world, user, ids[2]!);
  await host.count();
  await pass(world, host, MINUTE);
  const [before, shown] = [await accrued(world, user), await balance(world, user)];
  const posted = (await creditOfUser(world, user)).balance;
  assert.ok(before > 0n);
  assert.equal(shown.balanceNanos, posted - before);
  await settleNow(world);
  assert.equal(await accrued(world, user), 0n);
  assert.equal((await creditOfUser(world, user)).balance, posted - before);
  const after = await balance(world, user);
  assert.equal(after.balanceNanos, shown.balanceNanos, "a view before a settlement says what one after it says");
});

test("a balance follows running instances within seconds, up to the last report of their host", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { dollarsPerHour: 3.6 }), await world.caller()];
  await rentAndRun(world, user, host);
  await settleNow(world);
  for (let seconds = 5; seconds <= 30; seconds += 5) {
    world.clock.jump(5_000);
    // A heartbeat: the server does not store its counters.
    await host.obey();
    assert.equal(await accrued(world, user), BigInt(seconds) * 1_000_000n, `${seconds} s`);
  }
  world.clock.jump(10 * MINUTE);
  assert.equal(await accrued(world, user), 30_000_000n, "nobody has proven more");
});

test("the spendable credit never exceeds the ledger's amount, and no accrual is subtracted twice", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { dollarsPerHour: 6 }), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  await pass(world, host, 10 * MINUTE);
  const { available, held } = await creditOfUser(world, user);
  const shown = await balance(world, user);
  assert.ok(held > DOLLAR);
  assert.deepEqual(
    [shown.balanceNanos, shown.availableNanos],
    [999n * DOLLAR, available],
    "what is set aside covers it",
  );
  await pass(world, host, 120 * MINUTE);
  const late = await balance(world, user);
  assert.deepEqual([late.balanceNanos, late.availableNanos], [987n * DOLLAR, 987n * DOLLAR]);
  const answer = await world.call({ url: "/api/v0/users/current/", secret: user.secret });
  assert.deepEqual([answer.body.balance, answer.body.credit], [987, 987]);
  await destroy(world, user, id);
});

test("amounts that a deposit will pay do not accrue, and a balance is never shown below its minimum", async (t) => {
  const world = await testApp(t);
  const [host, user, poor] = [
    await listedHost(world, { dollarsPerHour: 1 }),
    await world.caller({ dollars: 1000 }),
    await world.caller({ dollars: 0.5 }),
  ];
  const reserved = await rentAndRun(world, user, host);
  assert.equal((await prepay(world, user, reserved, 576)).status, 200);
  await rentAndRun(world, poor, host);
  await pass(world, host, 60 * MINUTE);
  assert.equal(await accrued(world, user), 0n);
  assert.equal(await accrued(world, poor), DOLLAR);
  assert.deepEqual(await balance(world, poor), { balanceNanos: 0n, availableNanos: 0n });
  // An hour at a discount of 20 % is not charged yet; the deposit is shown without it.
  const deposit = await depositBalance(world, user, reserved);
  assert.deepEqual([deposit.body.deposit, deposit.body.total_discount], [575.2, 0.2]);
  await settleNow(world);
  assert.deepEqual((await depositBalance(world, user, reserved)).body, deposit.body);
});
