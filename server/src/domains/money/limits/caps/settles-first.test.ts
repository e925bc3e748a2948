import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import { HOUR_MS, listedHost, pass } from "../../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

type Body = Readonly<Record<string, unknown>>;

async function setCap(world: TestApp, user: TestCaller, body: Body) {
  const answer = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.cap;
}

function removeCap(world: TestApp, user: TestCaller, id: number) {
  return world.call({ method: "DELETE", url: `/api/v0/caps/${id}/`, secret: user.secret });
}

async function listCaps(world: TestApp, user: TestCaller) {
  return (await world.call({ url: "/api/v0/caps/", secret: user.secret })).body.caps;
}

const total = (limit: number) => ({ scope: "account", period: "total", limit });

/** Nano-dollars paid and unpaid for one component of an instance. */
async function chargedFor(world: TestApp, id: number, component: "gpu" | "disk" | "bwu" | "bwd") {
  const lines = (await linesOf(world, id)).filter((line) => line.component === component);
  const sum = (of: "amount_nanos" | "unpaid_nanos") => lines.reduce((all, line) => all + line[of], 0n);
  return { paid: sum("amount_nanos"), unpaid: sum("unpaid_nanos") };
}

async function end(world: TestApp, host: FakeHost, user: TestCaller, id: number): Promise<void> {
  assert.equal((await destroy(world, user, id)).status, 200);
  await host.obey();
  await settleNow(world);
}

for (const scope of ["instance", "account"] as const) {
  test(`a cap of nothing for the ${scope} never undoes what was consumed before it`, async (t) => {
    const world = await testApp(t);
    const host = await listedHost(world, { dollarsPerHour: 3 });
    const user = await world.caller();
    const id = await rentAndRun(world, user, host);
    // The host reports nothing of these 45 seconds before the cap is set.
    world.clock.jump(45 * SECOND_MS);
    const named = scope === "instance" ? { scope, scope_id: id } : { scope };
    const cap = await setCap(world, user, { ...named, period: "total", limit: 0 });
    assert.ok(cap.holds_from > world.clock.now().getTime() / 1000, "the running instance is stopped first");
    await end(world, host, user, id);
    assert.deepEqual(await chargedFor(world, id, "gpu"), { paid: 37_500_000n, unpaid: 0n });
    await world.assertBooks();
  });
}

for (const isStopping of [false, true]) {
  const moment = isStopping ? "while its instance is being stopped" : "before its instance is stopped";
  test(`a cap of nothing that is set again ${moment} leaves nothing unpaid`, async (t) => {
    const world = await testApp(t);
    const host = await listedHost(world, { dollarsPerHour: 3 });
    const user = await world.caller();
    const id = await rentAndRun(world, user, host);
    world.clock.jump(45 * SECOND_MS);
    await setCap(world, user, { scope: "account", period: "day", limit: 0 });
    if (isStopping) await world.runLoop("settle-runs");
    world.clock.jump(SECOND_MS);
    await setCap(world, user, { scope: "account", period: "day", limit: 0 });
    world.clock.jump(5 * SECOND_MS);
    await host.count();
    await end(world, host, user, id);
    const { paid, unpaid } = await chargedFor(world, id, "gpu");
    assert.deepEqual({ paid, unpaid }, { paid: 42_500_000n, unpaid: 0n });
    await world.assertBooks();
  });
}

test("a cap that is set settles first: the answer counts what was used until then", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  await pass(world, host, 30 * MINUTE_MS);
  const cap = await setCap(world, user, total(5));
  assert.equal(cap.spent, 1.5);
  assert.ok(cap.spent + cap.held <= cap.limit);
  assert.equal(cap.holds_from, world.clock.now().getTime() / 1000);
  const removed = await removeCap(world, user, cap.id);
  assert.equal(removed.status, 200, removed.text);
  await pass(world, host, 10 * MINUTE_MS);
  const remade = await setCap(world, user, total(5));
  assert.equal(remade.spent, 2);
  assert.equal((await show(world, user, id)).intended_status, "running");
  await world.assertBooks();
});

test("hours that were not settled are paid although a cap of nothing is set, lowered, removed and set again in turn", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  for (let round = 0; round < 3; round += 1) {
    await pass(world, host, 40 * MINUTE_MS);
    const { id: capId } = await setCap(world, user, total(0));
    world.clock.jump(10 * SECOND_MS);
    await removeCap(world, user, capId);
    await pass(world, host, 10 * SECOND_MS);
    await setCap(world, user, total(9));
    await setCap(world, user, total(0.000001));
    await setCap(world, user, total(9));
    await settleNow(world);
    assert.equal((await show(world, user, id)).intended_status, "running");
  }
  await end(world, host, user, id);
  const seconds = 3n * (40n * 60n + 20n);
  const { paid, unpaid } = await chargedFor(world, id, "gpu");
  assert.equal(unpaid, 0n);
  const due = (seconds * 1_000_000_000n) / 3600n;
  assert.ok(due - paid <= 20n, `${paid} of ${due}: each line is rounded down once`);
  await world.assertBooks();
});

test("time before a cap that its host reports after it is charged in full, and time after it within the limit", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  await host.disconnect();
  world.clock.jump(4 * MINUTE_MS);
  const cap = await setCap(world, user, total(0));
  assert.equal(cap.spent, 0);
  // The host learns of the stop when it reconnects, within its heartbeat lease.
  await settleNow(world);
  world.clock.jump(4 * MINUTE_MS);
  await host.connect();
  await host.obey();
  await settleNow(world);
  const { paid, unpaid } = await chargedFor(world, id, "gpu");
  assert.ok(paid >= 200_000_000n, "four minutes before the cap");
  assert.equal(unpaid, 0n, "nothing ran after the time from which the cap holds");
  assert.equal((await show(world, user, id)).intended_status, "stopped");
  assert.equal((await setState(world, user, id, "running")).body.error, "cap_reached");
  await world.assertBooks();
});

test("a cap shows when it begins to hold, and nothing is spent beyond it after that", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  await pass(world, host, 30 * MINUTE_MS);
  const cap = await setCap(world, user, { scope: "instance", scope_id: id, period: "total", limit: 1 });
  assert.equal(cap.spent, 1.5, "nothing is taken back");
  assert.equal(cap.holds_from, world.clock.now().getTime() / 1000 + 600);
  // The host reports running time after it was told to stop.
  await settleNow(world);
  const [before] = await listCaps(world, user);
  for (let minute = 0; minute < 30; minute += 1) {
    world.clock.jump(MINUTE_MS);
    const counters = { running_ms: (31 + minute) * MINUTE_MS, received_bytes: 0, sent_bytes: 0 };
    await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: String(minute) }], {
      version: 0,
    });
    await settleNow(world);
  }
  const [after] = await listCaps(world, user);
  assert.ok(after.spent <= before.spent + 0.5, `${after.spent}: ten minutes at most`);
  await world.assertBooks();
});

test("storage before a cap of nothing is paid", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const user = await world.caller();
  const { rows } = await world.env.pool.query<{ id: number }>(
    `insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     values ($1, 100e9::bigint, 72000000000, '2027-01-01', '2026-01-01', '2026-01-01') returning id`,
    [host.machineId],
  );
  const body = { id: rows[0]?.id, size: 10, name: "v" };
  const rented = await world.call({ method: "PUT", url: "/api/v0/volumes/", secret: user.secret, body });
  assert.equal(rented.status, 200, rented.text);
  await host.obey();
  await pass(world, host, 8 * HOUR_MS);
  // A dollar an hour, settled once a day.
  const cap = await setCap(world, user, total(0));
  assert.equal(cap.spent, 8);
  await removeCap(world, user, cap.id);
  await pass(world, host, 2 * HOUR_MS);
  await host.disconnect();
  world.clock.jump(5 * SECOND_MS);
  await setCap(world, user, total(1));
  await host.connect();
  await pass(world, host, HOUR_MS);
  await world.env.pool.query("update volumes set settle_at = $1 where settle_at is not null", [world.clock.now()]);
  await world.runLoop("settle-volumes");
  const sums = await world.env.pool.query(
    "select sum(amount_nanos)::bigint as paid, sum(unpaid_nanos)::bigint as unpaid from charge_lines",
  );
  // The cap cannot pay the hold of the volume, so it holds ten minutes later: these are paid, too.
  assert.equal(sums.rows[0].paid, 10_168_055_555n, "up to when the cap holds, and not beyond it");
  assert.ok(sums.rows[0].unpaid > 800_000_000n);
  await world.assertBooks();
});

test("traffic from before a cap is charged although its host reports it after the cap was set", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  world.clock.jump(MINUTE_MS);
  await setCap(world, user, total(0));
  const counters = { running_ms: MINUTE_MS, received_bytes: 500_000_000, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: "busy" }]);
  await settleNow(world);
  assert.deepEqual(await chargedFor(world, id, "bwd"), { paid: 1_000_000n, unpaid: 0n });
  await world.assertBooks();
});
