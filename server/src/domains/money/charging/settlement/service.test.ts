import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, giveCredit, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow, type StoredLine } from "../../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import {
  changeBid,
  destroy,
  reboot,
  rent,
  rentAndRun,
  setState,
  show,
  stored,
} from "../../../../../../test/support/rentals.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { lineAmount } from "../lines/lines.ts";
import { settleDue } from "./service.ts";
import { settleInstances } from "./settlement.ts";
import { lockBillable } from "./billable-store.ts";

const SECOND = 1000;
const HOUR = 3_600 * SECOND;

/** All charges for running so far: `[seconds, nano-dollars]` of each, in order. */
async function charges({ env }: TestApp): Promise<readonly (readonly [string, bigint])[]> {
  const { rows } = await env.pool.query<{ quantity: string; amount: bigint }>(
    "select cause ->> 'quantity' as quantity, amount_nanos as amount from ledger_transfers where code = 'usage_gpu' order by id",
  );
  return rows.map(({ quantity, amount }) => [quantity, amount] as const);
}

async function pass(world: TestApp, host: FakeHost, seconds: number): Promise<void> {
  world.clock.jump(seconds * SECOND);
  await host.count();
}

async function settleAt({ env }: TestApp, id: number): Promise<Date | null> {
  const { rows } = await env.pool.query<{ settle_at: Date | null }>(
    "select settle_at from instance_tabs where instance_id = $1",
    [id],
  );
  return rows[0]!.settle_at;
}

const brief = ({ component, state, quantity, amount_nanos: amount }: StoredLine) => [
  component,
  state,
  quantity,
  amount,
];

test("each counted stretch is charged once, at the agreed price, and nothing before the first running report", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  world.clock.jump(600 * SECOND);
  assert.deepEqual(await settleNow(world), { settled: 0, lines: 0, stopped: 0 });
  await host.obey();
  assert.deepEqual(await settleNow(world), { settled: 1, lines: 0, stopped: 0 });
  await pass(world, host, 36);
  await settleNow(world);
  await settleNow(world);
  await host.count();
  await settleNow(world);
  // $0.30 an hour for 36 seconds.
  assert.deepEqual(await charges(world), [["36", 3_000_000n]]);
  await pass(world, host, 12);
  await reboot(world, user, id);
  await host.obey();
  await pass(world, host, 6);
  await settleNow(world);
  assert.deepEqual(
    (await charges(world)).toSorted((a, b) => (a[0] < b[0] ? -1 : 1)),
    [
      ["12", 1_000_000n],
      ["36", 3_000_000n],
      ["6", 500_000n],
    ],
  );
  await setState(world, user, id, "stopped");
  await host.obey();
  await pass(world, host, 3_600);
  await settleNow(world);
  assert.equal((await charges(world)).length, 3, "a stopped instance costs nothing more for running");
  await world.assertBooks();
});

test("storage is charged by the instance's state, while its machine is in touch, until it is destroyed", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { disk: 10 });
  await pass(world, host, 3_600);
  await setState(world, user, id, "stopped");
  await host.obey();
  await pass(world, host, 1_800);
  await host.disconnect();
  world.clock.jump(24 * HOUR);
  await host.connect();
  await pass(world, host, 900);
  await destroy(world, user, id);
  await host.obey();
  await pass(world, host, 3_600);
  await settleNow(world);
  const disk = (await linesOf(world, id)).filter(({ component }) => component === "disk");
  // $0.15 a GB and month for 10 GB: $1.50 for 720 hours.
  const hour = 1_500_000_000n / 720n;
  assert.deepEqual(disk.map(brief), [
    ["disk", "running", 3_600_000n, hour],
    ["disk", "stopped", 1_800_000n, 1_500_000_000n / 1440n],
    ["disk", "stopped", 900_000n, 1_500_000_000n / 2880n],
  ]);
  assert.deepEqual(
    disk.map(({ cause }) => cause),
    ["container_running", "stop_requested", "stop_requested"],
  );
  assert.equal(await settleAt(world, id), null, "nothing more can become due");
  await world.assertBooks();
});

test("each direction of traffic is charged by the byte", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  world.clock.jump(600 * SECOND);
  const counters = { running_ms: 600_000, received_bytes: 2_500_000_000, sent_bytes: 400_000_000 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: "busy" }]);
  await world.runLoop("settle-runs");
  const lines = await linesOf(world, id);
  assert.deepEqual(lines.filter(({ component }) => component.startsWith("bw")).map(brief), [
    ["bwd", "running", 2_500_000_000n, 5_000_000n],
    ["bwu", "running", 400_000_000n, 800_000n],
  ]);
  const { rows } = await world.env.pool.query(
    "select code, amount_nanos from ledger_transfers where code like 'usage_b%' order by code",
  );
  assert.deepEqual(rows, [
    { code: "usage_bandwidth_down", amount_nanos: 5_000_000n },
    { code: "usage_bandwidth_up", amount_nanos: 800_000n },
  ]);
});

test("the amount of each charge line follows from its own fields, and no line crosses midnight", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  for (const hours of [5, 30, 7]) {
    await pass(world, host, hours * 3_600 + 1);
    await settleNow(world);
  }
  const lines = await linesOf(world, id);
  assert.ok(lines.length >= 8);
  for (const line of lines) {
    const component = line.component === "gpu" ? "gpu" : "disk";
    const recomputed = lineAmount({
      component,
      quantity: line.quantity,
      sizeBytes: line.size_bytes ?? undefined,
      unitPriceNanos: line.unit_price_nanos,
      discountPpm: line.discount_ppm,
    });
    assert.equal(line.amount_nanos + line.unpaid_nanos, recomputed);
    assert.equal(line.to_at.getTime() - line.from_at.getTime(), Number(line.quantity));
    assert.equal(
      line.from_at.toISOString().slice(0, 10),
      new Date(line.to_at.getTime() - 1).toISOString().slice(0, 10),
    );
  }
  const total = lines.filter(({ component }) => component === "gpu").reduce((sum, { quantity }) => sum + quantity, 0n);
  assert.equal(total, BigInt(42 * HOUR + 3 * SECOND));
});

test("a running instance is due again after an hour, a stopped one after a day, and one with little credit after minutes", async (t) => {
  const world = await testApp(t);
  const [host, rich, poor] = [await world.host(), await world.caller(), await world.caller({ dollars: 0.5 })];
  const [one, other] = [await rentAndRun(world, rich, host), await rentAndRun(world, poor, host)];
  await world.runLoop("settle-runs");
  const in_ = (seconds: number) => new Date(world.clock.now().getTime() + seconds * SECOND);
  assert.deepEqual([await settleAt(world, one), await settleAt(world, other)], [in_(3_600), in_(300)]);
  assert.deepEqual(await world.runLoop("settle-runs"), { settled: 0, lines: 0, stopped: 0 }, "nobody is due");
  await setState(world, rich, one, "stopped");
  await host.obey();
  await world.runLoop("settle-runs");
  assert.deepEqual(await settleAt(world, one), in_(86_400));
  // Ten minutes beyond the hour, and a GB of traffic each way. A stopped instance has no hold.
  assert.equal((await creditOfUser(world, rich)).held, 0n);
});

test("two processes that settle concurrently charge once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  for (let count = 0; count < 4; count += 1) await rentAndRun(world, user, host);
  await pass(world, host, 10);
  const { database } = world.env;
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => settleDue(database, world.clock)));
  assert.equal(
    outcomes.reduce((sum, outcome) => sum + outcome.settled, 0),
    4,
  );
  assert.equal((await charges(world)).length, 4);
  await world.assertBooks();
});

test("an empty balance stops the instance with its data kept, and takes the whole balance and no more", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller({ dollars: 0.06 })];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 1_200);
  assert.deepEqual(await settleNow(world), { settled: 1, lines: 2, stopped: 1 });
  assert.deepEqual(await creditOfUser(world, user), { balance: 0n, held: 0n, available: 0n });
  const lines = await linesOf(world, id);
  const due = lines.reduce((sum, line) => sum + line.amount_nanos + line.unpaid_nanos, 0n);
  assert.equal(
    lines.reduce((sum, line) => sum + line.amount_nanos, 0n),
    60_000_000n,
  );
  assert.ok(due > 100_000_000n, "what could not be paid is stated");
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).cause], ["stopping", "balance_empty"]);
  await host.obey();
  assert.equal((await show(world, user, id)).actual_status, "stopped");
  const refused = await setState(world, user, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [400, "insufficient_credit"]);
  await world.assertBooks();
});

test("an instance that must be stopped is stopped, although the process that found it died", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller({ dollars: 0.06 })];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 1_200);
  const { database } = world.env;
  const { stalled } = await withTransaction(database, world.clock, async (tx) => {
    const instance = await lockBillable(tx, asId<InstanceId>(id));
    return settleInstances(tx, [instance!], { isPassing: false });
  });
  assert.deepEqual(
    stalled.map((one) => one.id),
    [id],
  );
  // The first process does not act on it; the next one does.
  assert.equal((await stored(world, id)).phase, "running");
  assert.deepEqual(await world.runLoop("settle-runs"), { settled: 1, lines: 0, stopped: 1 });
  assert.equal((await stored(world, id)).phase, "stopping");
  await giveCredit(world, user, 10);
  await host.obey();
  assert.deepEqual(((await world.runLoop("settle-runs")) as { stopped: number }).stopped, 0);
  await world.assertBooks();
});

test("an instance that cannot be settled does not hold up others, and is tried again later", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  const ids = [];
  for (let count = 0; count < 4; count += 1) ids.push(await rentAndRun(world, user, host));
  await pass(world, host, 60);
  // A plant in the books that only a settlement may write.
  await world.env.pool.query(
    `insert into ledger_transfers
       (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
     values ($1, 1, 2, 1, 'usage_gpu', '{}', 'wrong', now())`,
    [`run:${ids[0]}:1:0-60000`],
  );
  await assert.rejects(async () => settleNow(world), /1 instances could not be settled/);
  assert.equal((await linesOf(world, ids[0]!)).length, 0);
  for (const id of ids.slice(1)) assert.equal((await linesOf(world, id)).length, 2, `${id}`);
  assert.deepEqual(await settleAt(world, ids[0]!), new Date(world.clock.now().getTime() + 300 * SECOND));
});

test("a hold stays until the last usage of a run is charged, and is released at once when nothing ran", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await world.runLoop("settle-runs");
  const { held } = await creditOfUser(world, user);
  // 70 minutes at $0.30 an hour, and more for disk and traffic.
  assert.ok(held > 350_000_000n);
  await pass(world, host, 1_800);
  await destroy(world, user, id);
  await host.obey();
  assert.equal((await creditOfUser(world, user)).held, held, "half an hour is not charged yet");
  await world.runLoop("settle-runs");
  const after = await creditOfUser(world, user);
  assert.equal(after.held, 0n);
  assert.ok(after.balance < 99_850_000_000n);
  const other = await rent(world, user, host);
  await destroy(world, user, other);
  await host.obey();
  assert.equal((await creditOfUser(world, user)).held, 0n);
  await world.assertBooks();
});

test("after a change of the bid, earlier running time is charged at no higher price", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { price: 0.36 });
  await pass(world, host, 10);
  await changeBid(world, user, id, 3.6);
  await settleNow(world);
  await pass(world, host, 5);
  await settleNow(world);
  await pass(world, host, 5);
  await settleNow(world);
  assert.deepEqual(await charges(world), [
    ["10", 1_000_000n],
    ["5", 5_000_000n],
    ["5", 5_000_000n],
  ]);
  // A report after the change also counts time before it, which costs the old bid.
  world.clock.jump(4 * SECOND);
  await changeBid(world, user, id, 0.36);
  await pass(world, host, 5);
  await settleNow(world);
  assert.deepEqual((await charges(world)).slice(3), [
    ["4", 4_000_000n],
    ["5", 500_000n],
  ]);
  await world.assertBooks();
});

test("running time after the end of the rental, until its host stops it, costs nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  const endAt = new Date(world.clock.now().getTime() + HOUR);
  await world.env.pool.query("update instances set end_at = $2 where id = $1", [id, endAt]);
  await host.obey();
  for (const seconds of [3_590, 20, 20]) await pass(world, host, seconds);
  await world.runLoop("end-contracts");
  await pass(world, host, 10);
  assert.equal((await stored(world, id)).phase, "stopped");
  await settleNow(world);
  assert.deepEqual(await charges(world), [["3600", 300_000_000n]]);
  await world.assertBooks();
});

test("free usage makes no charge line, but its counters are settled", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await world.env.pool.query(
    "update instances set price_nanos_per_hour = 0, storage_nanos_per_gb_month = 0 where id = $1",
    [id],
  );
  await pass(world, host, 60);
  assert.deepEqual(await settleNow(world), { settled: 1, lines: 0, stopped: 0 });
  const { rows } = await world.env.pool.query(
    "select r.charged_running_ms, t.storage_charged_until_at from instance_runs r join instance_tabs t using (instance_id)",
  );
  assert.deepEqual(rows, [{ charged_running_ms: 60_000n, storage_charged_until_at: world.clock.now() }]);
});
