import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";

const HOUR_MS = 3_600_000;

/** A machine of an accomplice that offers 400 GB at $1,000 a GB and month, which is $555 an hour. */
async function anAccomplice(world: TestApp) {
  const owner = await world.caller({ dollars: 0 });
  const host = await world.host({ owner });
  // A price above the operator's default maximum.
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 400e9::bigint, 1000000000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [host.machineId],
  );
  return { owner, host, offerId: 9001 };
}

const rent = (world: TestApp, user: TestCaller, id: number, size: number) =>
  world.call({ method: "PUT", url: "/api/v0/volumes/", secret: user.secret, body: { id, size } });

/** The earnings of hosts, and the loss of the operator. */
async function moneyOf(world: TestApp) {
  const { rows } = await world.env.pool.query<{ earned: bigint; lost: bigint }>(
    `select coalesce(sum(balance_nanos) filter (where kind = 'earnings'), 0)::bigint as earned,
       -coalesce(sum(balance_nanos) filter (where kind = 'losses'), 0)::bigint as lost
     from ledger_accounts`,
  );
  return rows[0];
}

test("a volume whose first hours cannot be set aside is not rented", async (t) => {
  const world = await testApp(t);
  const { offerId } = await anAccomplice(world);
  const user = await world.caller({ dollars: 0.01 });
  const answer = await rent(world, user, offerId, 40);
  assert.deepEqual([answer.status, answer.body.error], [400, "insufficient_credit"], answer.text);
  assert.match(answer.body.msg, /first hours set aside/);
  assert.deepEqual(await creditOfUser(world, user), { balance: 10_000_000n, held: 0n, available: 10_000_000n });
});

test("a host is paid for storage as far as renters paid, and the operator loses nothing", async (t) => {
  const world = await testApp(t);
  const { host, offerId } = await anAccomplice(world);
  const user = await world.caller({ dollars: 10 });
  const answer = await rent(world, user, offerId, 1);
  assert.equal(answer.status, 200, answer.text);
  const held = (await creditOfUser(world, user)).held;
  assert.ok(held > 8_000_000_000n && held < 9_000_000_000n, `six hours are set aside: ${held}`);
  for (let day = 0; day < 4; day += 1) {
    world.clock.jump(24 * HOUR_MS);
    await host.obey();
    await world.runLoop("settle-volumes");
    await world.runLoop("watch-credit");
    await world.runLoop("follow-arrears");
  }
  assert.deepEqual(await moneyOf(world), { earned: 10_000_000_000n, lost: 0n });
  assert.deepEqual(await creditOfUser(world, user), { balance: 0n, held: 0n, available: 0n });
  const volumes = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
  assert.deepEqual(volumes.body.volumes, [], "it was deleted when that was announced");
  await world.assertBooks();
});

test("credit held for storage cannot be given away", async (t) => {
  const world = await testApp(t);
  const { host, offerId } = await anAccomplice(world);
  const [user, friend] = [await world.caller({ dollars: 100 }), await world.caller({ dollars: 0 })];
  assert.equal((await rent(world, user, offerId, 2)).status, 200);
  await world.runLoop("settle-volumes");
  world.clock.jump(12 * HOUR_MS);
  await host.obey();
  const give = (amount: number) =>
    world.call({
      method: "PUT",
      url: "/api/v0/commands/transfer_credit/",
      secret: user.secret,
      body: { sender: "me", recipient: friend.id, amount },
    });
  const all = await give(99);
  assert.deepEqual([all.status, all.body.error], [400, "insufficient_balance"], all.text);
  assert.equal((await give(20)).status, 200);
  world.clock.jump(12 * HOUR_MS);
  await host.obey();
  await world.runLoop("settle-volumes");
  const { rows } = await world.env.pool.query("select coalesce(sum(unpaid_nanos), 0)::text as n from charge_lines");
  assert.deepEqual(rows, [{ n: "0" }], "accrued use was paid");
  await world.assertBooks();
});
