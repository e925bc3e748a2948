import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { settleNow } from "../../../../../test/support/money/charges.ts";
import { DAY_MS, HOUR_MS, listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { changeBid, destroy, rentAndRun, setState, show } from "../../../../../test/support/rentals.ts";
import { asId, type UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { lockMachines } from "../../supply/hosts/index.ts";
import { NO_PAYMENTS } from "../payments/for-assembly.ts";
import { offerPriceIncreases } from "./index.ts";

const DOLLAR = 1_000_000_000n;

/** Lists the host's machine again and returns the number of price increases that its renters are offered. */
async function ask(world: TestApp, host: FakeHost, { dollars = 2, disk = 0n, days = 20 } = {}): Promise<number> {
  const { rows } = await world.env.pool.query<{ host_id: number; disk: bigint; up: bigint; down: bigint }>(
    `select host_id, price_disk_nanos_per_gb_month as disk, price_inet_up_nanos_per_gb as up,
       price_inet_down_nanos_per_gb as down from machines where id = $1`,
    [host.machineId],
  );
  const machine = rows[0]!;
  return withTransaction(world.env.database, world.clock, async (tx) => {
    await lockMachines(tx, [host.machineId]);
    return offerPriceIncreases(tx, {
      machineId: host.machineId,
      hostId: asId<UserId>(machine.host_id),
      newTerms: {
        priceDeviceNanosPerHour: nanos(BigInt(dollars) * DOLLAR),
        priceDiskNanosPerGbMonth: nanos(machine.disk + disk),
        priceInetUpNanosPerGb: nanos(machine.up),
        priceInetDownNanosPerGb: nanos(machine.down),
        offerEndAt: new Date(new Date("2026-01-01T00:00:00Z").getTime() + days * DAY_MS),
      },
    });
  });
}

async function pending(world: TestApp, user: TestCaller) {
  const url = "/api/v0/instances/pending-price-increases/";
  const { body } = await world.call({ url, secret: user.secret });
  assert.deepEqual([body.success, body.truncated, body.count], [true, false, body.pending_price_increases.length]);
  return body.pending_price_increases;
}

function answer(world: TestApp, user: TestCaller, verb: "accept" | "reject", body: unknown) {
  return world.call({ method: "PUT", url: `/api/v0/instances/${verb}-price-increase/`, secret: user.secret, body });
}

/** Nano-dollars charged so far. */
async function charged({ env }: TestApp): Promise<bigint> {
  const { rows } = await env.pool.query<{ sum: bigint }>(
    "select coalesce(sum(amount_nanos), 0)::bigint as sum from ledger_transfers where code = 'usage_gpu'",
  );
  return rows[0]!.sum;
}

test("offers and price increases name the fee of the platform as the part of the price that it is", async (t) => {
  const world = await testApp(t, { payments: { ...NO_PAYMENTS, feePpm: 125_000 } });
  const host = await listedHost(world, { days: 10 }, { gpus: 4 });
  const { body } = await world.call({
    ...{ method: "POST", url: "/api/v0/bundles/" },
    body: { platform_fee: { eq: 0.125 }, num_gpus: { eq: 1 } },
  });
  assert.deepEqual(
    body.offers.map((offer: { readonly platform_fee: number }) => offer.platform_fee),
    [0.125],
  );
  const user = await world.caller();
  await rentAndRun(world, user, host, { size: 2 });
  await ask(world, host);
  const [row] = await pending(world, user);
  assert.deepEqual([row.old_platform_fee, row.new_platform_fee], [0.125, null]);
});

test("a price increase is shown in the contract's units, once for each rental, to its renter alone", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { days: 10 }, { gpus: 4 });
  const [user, other] = [await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host, { size: 2 });
  const bid = await rentAndRun(world, other, host, { size: 1, price: 1.5 });
  assert.equal(await ask(world, host), 1, "a bid pays what it bids, at any listed price");
  assert.equal(await ask(world, host), 1);
  const [row, ...more] = await pending(world, user);
  assert.deepEqual(more, [], "a newer offer takes the place of the one before");
  const { pending_price_increase_id: increaseId, host_id: hostId, ...terms } = row;
  assert.deepEqual([typeof increaseId, typeof hostId], ["number", "number"]);
  assert.ok(
    Math.abs(terms.old_gpu_costpersec * 3600 - 1) < 1e-9 && Math.abs(terms.new_gpu_costpersec * 3600 - 2) < 1e-9,
  );
  assert.deepEqual(
    [terms.contract_id, terms.new_disk_ram_costpersec, terms.new_bwu_cost, terms.new_bwd_cost],
    [id, null, null, null],
  );
  assert.deepEqual([terms.old_platform_fee, terms.new_platform_fee], [0, null]);
  assert.equal(terms.ask_end_date - terms.contract_end_date, (10 * DAY_MS) / 1000);
  assert.deepEqual(await pending(world, other), []);
  assert.equal(await ask(world, host, { disk: 30n * DOLLAR }), 2, "dearer storage concerns bids too");
  const [ofBid] = await pending(world, other);
  assert.deepEqual([ofBid.contract_id, ofBid.new_gpu_costpersec], [bid, null]);
  assert.equal(await ask(world, host, { days: 10 }), 0, "nothing is asked for no longer time");
  assert.deepEqual([await pending(world, user), await pending(world, other)], [[], []]);
  await ask(world, host);
  await destroy(world, user, id);
  assert.deepEqual(await pending(world, user), [], "a rental that is being destroyed gets no offer");
});

test("an accepted price holds from the old end on, to the millisecond of the meter, and the rental goes on", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller({ dollars: 2000 })];
  const id = await rentAndRun(world, user, host);
  const notification_preferences = { client: { contract_extended: { email: true } } };
  const wish = { method: "PUT", url: "/api/v0/users/me/notification-prefs/", secret: user.secret } as const;
  assert.equal((await world.call({ ...wish, body: { notification_preferences } })).status, 200);
  await ask(world, host);
  const [{ pending_price_increase_id: increaseId }] = await pending(world, user);
  const body = { pending_price_increase_id: increaseId };
  const accepted = await answer(world, user, "accept", body);
  assert.deepEqual([accepted.status, accepted.body], [200, { success: true, ...body, contract_id: id }]);
  const told = await world.env.pool.query("select message from notices where kind = 'client:contract_extended'");
  assert.deepEqual(told.rows, [{ message: `Instance ${id} can stay until 2026-01-21 00:00 UTC.` }]);
  assert.equal((await show(world, user, id)).end_date, Date.parse("2026-01-21T00:00:00Z") / 1000);
  const again = await answer(world, user, "accept", body);
  assert.deepEqual([again.status, again.body.success, again.body.error], [404, false, "no_pending_price_increase"]);
  await pass(world, host, 9 * DAY_MS);
  assert.deepEqual(await world.runLoop("switch-prices"), { switched: 0 });
  await settleNow(world);
  assert.equal(await charged(world), 216n * DOLLAR, "the old price until the old end");
  // A deposit can reach to the change of the price only.
  assert.match((await prepay(world, user, id, 50)).body.msg, /changes its price on 2026-01-11/);
  await pass(world, host, DAY_MS);
  assert.deepEqual(await world.runLoop("end-contracts"), { stopped: 0 });
  assert.deepEqual(
    await Promise.all([1, 2, 3].map(() => world.runLoop("switch-prices"))).then((all) =>
      all.reduce<number>((sum, one) => sum + (one as { switched: number }).switched, 0),
    ),
    1,
  );
  // Time that was counted before and not charged is charged now.
  await settleNow(world);
  assert.equal(await charged(world), 240n * DOLLAR);
  await pass(world, host, 1);
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  const first = (await charged(world)) - 240n * DOLLAR;
  assert.equal(first, 2n * DOLLAR + (2n * DOLLAR) / 3_600_000n, "the new price from the very millisecond on");
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  assert.equal((await charged(world)) - 240n * DOLLAR - first, 2n * DOLLAR);
  assert.equal((await show(world, user, id)).dph_base, 2);
  await pass(world, host, 10 * DAY_MS);
  assert.deepEqual(await world.runLoop("end-contracts"), { stopped: 1 });
  await world.assertBooks();
});

test("a rejected increase leaves the rental as it was, and an answer to a replaced one changes nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await ask(world, host);
  const [{ pending_price_increase_id: old }] = await pending(world, user);
  await ask(world, host, { dollars: 3 });
  const [{ pending_price_increase_id: increaseId }] = await pending(world, user);
  for (const verb of ["accept", "reject"] as const) {
    assert.equal((await answer(world, user, verb, { pending_price_increase_id: old })).status, 404);
  }
  const rejected = await answer(world, user, "reject", { pending_price_increase_id: increaseId });
  assert.deepEqual([rejected.status, rejected.body.contract_id], [200, id]);
  assert.deepEqual(await pending(world, user), []);
  assert.equal((await show(world, user, id)).end_date, Date.parse("2026-01-11T00:00:00Z") / 1000);
});

test("an answer with any key but the id is refused, and so is one for an unknown increase", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  for (const verb of ["accept", "reject"] as const) {
    const extra = await answer(world, user, verb, { pending_price_increase_id: 1, contract_id: 2 });
    assert.deepEqual([extra.status, extra.body.error, extra.body.field], [400, "invalid_args", "contract_id"]);
    for (const id of [undefined, "1", 1.5, true, []]) {
      const { status, body } = await answer(world, user, verb, { pending_price_increase_id: id });
      assert.deepEqual([status, body.field], [400, "pending_price_increase_id"], String(id));
    }
    for (const id of [0, -1, 2 ** 31, 2 ** 52]) {
      assert.equal((await answer(world, user, verb, { pending_price_increase_id: id })).status, 404, String(id));
    }
  }
});

test("a renter who accepts while the ended rental waits for its deletion pays the new price at once and may start again", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await ask(world, host);
  await pass(world, host, 11 * DAY_MS);
  await settleNow(world);
  await world.runLoop("end-contracts");
  await host.obey();
  const before = await charged(world);
  assert.equal((await setState(world, user, id, "running")).body.error, "contract_ended");
  const [{ pending_price_increase_id: increaseId }] = await pending(world, user);
  assert.equal((await answer(world, user, "accept", { pending_price_increase_id: increaseId })).status, 200);
  assert.equal((await setState(world, user, id, "running")).status, 200);
  await host.obey();
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  assert.equal((await charged(world)) - before, 2n * DOLLAR);
});

test("an ended rental shows its end, is kept for two days and is then deleted with its whole deposit returned", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 200);
  await pass(world, host, 8 * DAY_MS + HOUR_MS);
  const early = await show(world, user, id);
  assert.deepEqual([early.time_remaining, early.time_remaining_isbid], ["1 d 23 h", ""]);
  assert.equal(early.deletes_at - early.end_date, 172_800);
  assert.doesNotMatch(early.status_msg, /ends/);
  await pass(world, host, DAY_MS + HOUR_MS / 2);
  const late = await show(world, user, id);
  assert.equal(late.time_remaining, "22 h 30 min");
  assert.match(late.status_msg, /^success, .*; its rental ends on 2026-01-11 00:00 UTC/);
  // On the last day the host is not connected, which is not the renter's fault.
  await host.disconnect();
  world.clock.jump(DAY_MS);
  await host.connect();
  await host.obey();
  await world.runLoop("end-contracts");
  await host.obey();
  await settleNow(world);
  assert.match((await show(world, user, id)).status_msg, /its rental has ended: .* deleted .* on 2026-01-13 00:00 UTC/);
  assert.deepEqual(await world.runLoop("delete-ended-contracts"), { deleted: 0 });
  await pass(world, host, 2 * DAY_MS);
  const outcomes = await Promise.all([1, 2, 3].map(() => world.runLoop("delete-ended-contracts")));
  assert.equal(
    outcomes.reduce<number>((sum, one) => sum + (one as { deleted: number }).deleted, 0),
    1,
  );
  await host.obey();
  const { rows } = await world.env.pool.query(
    "select left_nanos from (select balance_nanos as left_nanos from ledger_accounts where kind like 'deposit:%') d where left_nanos > 0",
  );
  assert.equal(rows.length, 1);
  await settleNow(world);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 1 });
  const { rows: fees } = await world.env.pool.query("select 1 from ledger_transfers where code = 'fee'");
  assert.equal(fees.length, 0, "nobody ended it early");
  await world.assertBooks();
});

test("a bid that its renter changed after accepting a higher price for storage stays as changed", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host, { price: 1.5 });
  await ask(world, host, { dollars: 1, disk: DOLLAR });
  assert.equal((await changeBid(world, user, id, 0.4)).status, 200);
  const [row] = await pending(world, user);
  assert.deepEqual([row.new_gpu_costpersec, Math.round(row.old_gpu_costpersec * 36_000)], [null, 4]);
  const body = { pending_price_increase_id: row.pending_price_increase_id };
  assert.equal((await answer(world, user, "accept", body)).status, 200);
  assert.equal((await changeBid(world, user, id, 0.2)).status, 200);
  await ask(world, host, { dollars: 1, disk: 2n * DOLLAR, days: 40 });
  assert.equal(Math.round((await pending(world, user))[0].old_gpu_costpersec * 36_000), 2);
  await pass(world, host, 10 * DAY_MS);
  assert.deepEqual(await world.runLoop("switch-prices"), { switched: 1 });
  const { rows } = await world.env.pool.query(
    "select price_nanos_per_hour as price, storage_nanos_per_gb_month as storage from instances where id = $1",
    [id],
  );
  assert.deepEqual(rows, [{ price: 200_000_000n, storage: 1_000_000_000n }]);
});

test("an increase that can no longer be accepted is neither shown nor kept, while machines are listed again", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { days: 10 }, { gpus: 4 });
  const user = await world.caller();
  for (let count = 0; count < 4; count += 1) await rentAndRun(world, user, host);
  await ask(world, host);
  await world.env.pool.query("update instances set end_at = end_at + interval '30 days'");
  assert.deepEqual(await pending(world, user), []);
  const results = await Promise.all([
    ...Array.from({ length: 4 }, () => world.runLoop("drop-price-increases")),
    ...Array.from({ length: 4 }, () => ask(world, host, { days: 60 })),
  ]);
  assert.equal(results.length, 8);
  assert.equal((await pending(world, user)).length, 4);
});

test("the older form accepts the pending increase of the instance in the path, and no other than the one it names", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 10 }), await world.caller({ dollars: 2000 })];
  const id = await rentAndRun(world, user, host);
  const accept = (by: TestCaller, instance: number, body: unknown = {}) =>
    world.call({ method: "PUT", url: `/api/v0/instances/${instance}/accept-price-increase/`, secret: by.secret, body });
  const refusals = async (by: TestCaller, instance: number, body: unknown = {}) => {
    const { status, body: answered } = await accept(by, instance, body);
    return [status, answered.success, answered.error];
  };
  const none = [404, false, "no_pending_price_increase"];
  assert.deepEqual(await refusals(user, id), none, "none is pending");
  await ask(world, host);
  const [{ pending_price_increase_id: seen }] = await pending(world, user);
  await ask(world, host, { dollars: 9 });
  const [{ pending_price_increase_id: increaseId }] = await pending(world, user);
  assert.notEqual(seen, increaseId);
  assert.deepEqual(await refusals(user, id, { pending_price_increase_id: seen }), none, "the host replaced it");
  assert.deepEqual(await refusals(await world.caller(), id), none, "it is another renter's");
  assert.deepEqual(await refusals(user, 1_000_000), none);
  const wrong = await accept(user, id, { pending_price_increase_id: "x" });
  assert.deepEqual([wrong.status, wrong.body.field], [400, "pending_price_increase_id"]);
  const accepted = await accept(user, id);
  const said = { success: true, pending_price_increase_id: increaseId, contract_id: id };
  assert.deepEqual([accepted.status, accepted.body], [200, said]);
  assert.deepEqual(await pending(world, user), []);
  assert.deepEqual(await refusals(user, id), none, "it is accepted once");
});
