import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";

const HOUR_MS = 3_600_000;

async function settleAnHour(world: TestApp, host: FakeHost): Promise<void> {
  world.clock.jump(HOUR_MS);
  await host.count();
  await settleNow(world);
  await world.assertBooks();
}

async function holdOf({ env }: TestApp, id: number): Promise<bigint | null> {
  const { rows } = await env.pool.query<{ hold_id: bigint | null }>(
    "select hold_id from instance_tabs where instance_id = $1",
    [id],
  );
  return rows[0]!.hold_id;
}

test("a hold that would be placed again unchanged stays, and everything due is charged", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await settleAnHour(world, host);
  const [hold, before] = [await holdOf(world, id), await creditOfUser(world, user)];
  await settleAnHour(world, host);
  const after = await creditOfUser(world, user);
  assert.equal(await holdOf(world, id), hold);
  assert.equal(after.held, before.held);
  const lines = await linesOf(world, id);
  assert.equal(
    lines.filter(({ component }) => component === "gpu").reduce((sum, { quantity }) => sum + quantity, 0n),
    BigInt(2 * HOUR_MS),
  );
  assert.ok(after.balance < before.balance, "the second hour was paid");
  // A hold that another transaction has closed is not kept.
  const { rowCount } = await world.env.pool.query(
    `with closed as (
       update ledger_holds set state = 'released', closed_at = created_at where id = $1 returning account_id, amount_nanos
     )
     update ledger_accounts a set held_nanos = held_nanos - c.amount_nanos from closed c where a.id = c.account_id`,
    [hold],
  );
  assert.equal(rowCount, 1);
  await settleAnHour(world, host);
  assert.notEqual(await holdOf(world, id), hold);
  assert.equal((await creditOfUser(world, user)).held, before.held);
});

test("a hold follows the price", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await settleAnHour(world, host);
  const [hold, { held }] = [await holdOf(world, id), await creditOfUser(world, user)];
  await world.env.pool.query(
    "update instances set storage_nanos_per_gb_month = 2 * storage_nanos_per_gb_month where id = $1",
    [id],
  );
  await settleAnHour(world, host);
  assert.notEqual(await holdOf(world, id), hold);
  assert.ok((await creditOfUser(world, user)).held > held);
});

test("a kept hold counts against the caps that hold now", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await settleAnHour(world, host);
  const hold = await holdOf(world, id);
  await world.env.pool.query("update instances set cap_scopes = cap_scopes || 'endpoint:7'::text where id = $1", [id]);
  await settleAnHour(world, host);
  const { rows } = await world.env.pool.query(
    "select 'endpoint:7' = any (scopes) as counts from ledger_holds where id = $1 and state = 'pending'",
    [await holdOf(world, id)],
  );
  assert.notEqual(await holdOf(world, id), hold);
  assert.deepEqual(rows, [{ counts: true }]);
});

test("holds of users with little credit or with a cap are placed again at each settlement", async (t) => {
  const world = await testApp(t);
  const [host, poor, capped] = [await world.host(), await world.caller({ dollars: 2 }), await world.caller()];
  const body = { limit: 1_000, period: "total", scope: "account" };
  const made = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: capped.secret, body });
  assert.equal(made.status, 200, made.text);
  const ids = [await rentAndRun(world, poor, host), await rentAndRun(world, capped, host)];
  await settleAnHour(world, host);
  const before = await Promise.all(ids.map((id) => holdOf(world, id)));
  await settleAnHour(world, host);
  for (const [index, id] of ids.entries()) {
    const hold = await holdOf(world, id);
    assert.notEqual(hold, null);
    assert.notEqual(hold, before[index]);
  }
});
