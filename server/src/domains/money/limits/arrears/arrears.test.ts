import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, giveCredit, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import { HOUR_MS, listedHost, pass } from "../../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, destroy, history, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";
import { chargeForStorage } from "../../../../../../test/support/storage.ts";

const MINUTE_MS = 60_000;

/** 10 GB for a dollar an hour. */
const STORAGE = { disk: 10, dollarsPerGbMonth: 72 } as const;

async function arrearsOf(world: TestApp, user: TestCaller) {
  const answer = await world.call({ url: "/api/v0/arrears/", secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.arrears;
}

async function subjects(world: TestApp, user: TestCaller): Promise<readonly string[]> {
  const { rows } = await world.env.pool.query<{ subject: string }>(
    "select subject from notices where user_id = $1 and kind in ('client:low_credit', 'client:data_deletion_scheduled', 'client:data_deleted') order by id",
    [user.id],
  );
  return rows.map(({ subject }) => subject);
}

async function settleAll(world: TestApp): Promise<void> {
  await settleNow(world);
  await world.runLoop("settle-volumes");
}

async function look(world: TestApp): Promise<void> {
  await world.runLoop("watch-credit");
  await world.runLoop("follow-arrears");
}

/** A stopped instance that costs a dollar an hour, of a renter with this much credit. */
async function aStoppedInstance(
  world: TestApp,
  dollars: number,
): Promise<{ host: FakeHost; user: TestCaller; id: number }> {
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  await chargeForStorage(world, host, STORAGE.dollarsPerGbMonth);
  const user = await world.caller({ dollars });
  const id = await rentAndRun(world, user, host, { disk: STORAGE.disk });
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  await host.obey();
  await settleAll(world);
  return { host, user, id };
}

test("a renter who cannot pay for storage is told until when it is kept, and may pay until then", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aStoppedInstance(world, 30);
  await look(world);
  assert.deepEqual(await subjects(world, user), []);
  await pass(world, host, 7 * HOUR_MS);
  await settleAll(world);
  await look(world);
  await look(world);
  assert.deepEqual(await subjects(world, user), ["Your credit lasts less than 24 hours"]);
  await pass(world, host, 22.5 * HOUR_MS);
  await settleAll(world);
  await look(world);
  assert.deepEqual((await subjects(world, user)).slice(1), ["Your credit lasts less than an hour"]);
  assert.equal(await arrearsOf(world, user), null);

  await pass(world, host, HOUR_MS);
  await look(world);
  const enteredAt = world.clock.now().getTime() / 1000;
  const arrears = await arrearsOf(world, user);
  assert.equal(arrears.began_at, enteredAt);
  // Thirty dollars in thirty days are one a day, which pays for an hour, so the minimum of two days applies.
  assert.equal(arrears.delete_at, enteredAt + 48 * 3600);
  assert.equal(arrears.floor, 0, "nobody advances unpaid storage");
  assert.deepEqual((await subjects(world, user)).slice(2), ["Your credit is used up", "Your data is kept for a while"]);

  await t.test("an account in arrears cannot start, rent or give credit away", async () => {
    // Storage until now is charged as soon as arrears begin.
    assert.notDeepEqual(await world.runLoop("settle-runs"), { settled: 0, lines: 0, stopped: 0 });
    const start = await setState(world, user, id, "running");
    const rental = await askFor(world, user, host);
    assert.deepEqual([start.status, start.body.error], [400, "insufficient_credit"], start.text);
    assert.deepEqual([rental.status, rental.body.error], [400, "insufficient_credit"], rental.text);
    const other = await world.caller({ dollars: 0 });
    const gift = await world.call({
      method: "PUT",
      url: "/api/v0/commands/transfer_credit/",
      secret: user.secret,
      body: { sender: "me", recipient: other.id, amount: 1 },
    });
    assert.equal(gift.status, 400, gift.text);
    assert.equal((await creditOfUser(world, other)).balance, 0n);
  });

  await t.test("unpaid storage is nobody's debt, and the stated time stays and is repeated a day before", async () => {
    await pass(world, host, 23 * HOUR_MS);
    await settleAll(world);
    await look(world);
    assert.equal((await creditOfUser(world, user)).balance, 0n);
    const { rows } = await world.env.pool.query<{ earned: bigint; unpaid: string }>(
      `select balance_nanos as earned, (select sum(unpaid_nanos) from charge_lines)::text as unpaid
         from ledger_accounts where kind = 'earnings'`,
    );
    assert.ok((rows[0]?.earned ?? 0n) <= 30_000_000_000n, "its host has what was paid, and no more");
    assert.ok(BigInt(rows[0]?.unpaid ?? "0") > 22_000_000_000n);
    assert.equal((await subjects(world, user)).length, 4);
    // An hour is paid, which neither ends the arrears nor moves their time.
    await giveCredit(world, user, 1);
    await pass(world, host, 2 * HOUR_MS);
    await settleAll(world);
    await look(world);
    await look(world);
    assert.deepEqual((await subjects(world, user)).slice(4), ["Your data is deleted within a day"]);
    assert.equal((await arrearsOf(world, user)).delete_at, arrears.delete_at);
    await world.assertBooks();
  });

  await t.test("a renter who pays gets everything back as it was", async () => {
    await giveCredit(world, user, 60);
    await look(world);
    assert.equal(await arrearsOf(world, user), null);
    await pass(world, host, MINUTE_MS);
    await settleAll(world);
    assert.ok((await creditOfUser(world, user)).balance > 0n);
    const { rows } = await world.env.pool.query(
      "select floor_nanos as floor from ledger_accounts where user_id = $1 and kind = 'credit'",
      [user.id],
    );
    assert.equal(rows[0].floor, 0n);
    const start = await setState(world, user, id, "running");
    assert.equal(start.status, 200, start.text);
    await world.assertBooks();
  });
});

test("at the stated time, and not before, instances and volumes are deleted, at no cost to the house", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aStoppedInstance(world, 2);
  const bystander = await world.caller();
  const otherId = await rentAndRun(world, bystander, host);
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 100e9::bigint, 100000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [host.machineId],
  );
  const made = await world.call({
    method: "PUT",
    url: "/api/v0/volumes/",
    secret: user.secret,
    body: { id: 9001, size: 20, name: "mine" },
  });
  assert.equal(made.status, 200, made.text);
  await host.obey();
  await pass(world, host, 3 * HOUR_MS);
  await look(world);
  const arrears = await arrearsOf(world, user);
  assert.ok(arrears !== null);
  const leftMs = arrears.delete_at * 1000 - world.clock.now().getTime();
  await pass(world, host, leftMs - MINUTE_MS);
  await settleAll(world);
  await look(world);
  assert.equal((await stored(world, id)).phase, "stopped");

  await pass(world, host, MINUTE_MS);
  await look(world);
  await host.obey();
  await settleAll(world);
  await look(world);
  await host.obey();
  await settleAll(world);
  await look(world);
  assert.equal((await stored(world, id)).phase, "ended");
  assert.ok((await history(world, id)).some(([, to, cause]) => to === "ending" && cause === "arrears"));
  const volumes = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
  assert.deepEqual(volumes.body.volumes, []);
  assert.equal(await arrearsOf(world, user), null);
  assert.deepEqual(await creditOfUser(world, user), { balance: 0n, held: 0n, available: 0n });
  const { rows } = await world.env.pool.query(
    `select a.outcome, a.written_off_nanos as loss, c.floor_nanos as floor,
       (select coalesce(sum(balance_nanos), 0)::text from ledger_accounts where kind = 'losses') as losses
     from arrears a, ledger_accounts c where a.user_id = $1 and c.user_id = $1 and c.kind = 'credit'`,
    [user.id],
  );
  assert.deepEqual(rows, [{ outcome: "deleted", loss: 0n, floor: 0n, losses: "0" }]);
  assert.equal((await subjects(world, user)).at(-1), "Your data was deleted");
  assert.equal((await stored(world, otherId)).phase, "running", "nobody else loses anything");
  assert.deepEqual(await world.runLoop("follow-arrears"), {
    paid: 0,
    reminded: 0,
    waiting: 0,
    deleting: 0,
    deleted: 0,
    over: 0,
  });
  await world.assertBooks();
});

test("a renter who removes everything before has nothing deleted, and one whose storage is free is never in arrears", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const user = await world.caller({ dollars: 0.5 });
  const id = await rentAndRun(world, user, host);
  await setState(world, user, id, "stopped");
  await host.obey();
  await pass(world, host, 100 * HOUR_MS);
  await settleAll(world);
  await look(world);
  assert.equal(await arrearsOf(world, user), null);
  await destroy(world, user, id);
  await host.obey();
  await look(world);
  assert.deepEqual(await subjects(world, user), []);
});

test("a renter with nothing but a volume is told that credit runs out, and until when it is kept", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 });
  const user = await world.caller({ dollars: 20 });
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 100e9::bigint, 72000000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [host.machineId],
  );
  const body = { id: 9001, size: 10, name: "mine" };
  assert.equal((await world.call({ method: "PUT", url: "/api/v0/volumes/", secret: user.secret, body })).status, 200);
  await host.obey();
  await look(world);
  assert.deepEqual(await subjects(world, user), ["Your credit lasts less than 24 hours"]);
  await pass(world, host, 21 * HOUR_MS);
  await look(world);
  assert.equal((await subjects(world, user)).at(-1), "Your data is kept for a while");
  assert.equal((await arrearsOf(world, user)).storage_per_hour, 1);
});

test("with many loops at once an account enters arrears once and is deleted once", async (t) => {
  const world = await testApp(t);
  const { host, user } = await aStoppedInstance(world, 1);
  await pass(world, host, 2 * HOUR_MS);
  const all = (name: string) => Promise.all(Array.from({ length: 6 }, () => world.runLoop(name)));
  await all("watch-credit");
  const { delete_at: deleteAt } = await arrearsOf(world, user);
  await pass(world, host, deleteAt * 1000 - world.clock.now().getTime());
  for (let round = 0; round < 3; round += 1) {
    await all("follow-arrears");
    await host.obey();
    await settleAll(world);
  }
  const { rows } = await world.env.pool.query(
    `select (select count(*)::integer from arrears) as arrears,
       (select count(*)::integer from ledger_transfers where code = 'write_off') as writeoffs,
       (select outcome from arrears) as outcome`,
  );
  assert.deepEqual(rows, [{ arrears: 1, writeoffs: 0, outcome: "deleted" }]);
  assert.equal((await creditOfUser(world, user)).balance, 0n);
  assert.equal((await subjects(world, user)).filter((subject) => subject === "Your data was deleted").length, 1);
  await world.assertBooks();
});

test("a host that never comes back delays no deletion", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aStoppedInstance(world, 2);
  const other = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  await chargeForStorage(world, other, STORAGE.dollarsPerGbMonth);
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 100e9::bigint, 100000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [other.machineId],
  );
  await giveCredit(world, user, 2);
  const volumeInfo = { create_new: true, volume_id: 9001, size: 20, mount_path: "/data", name: "mine" };
  const lostId = await rentAndRun(world, user, other, { disk: STORAGE.disk, volume_info: volumeInfo });
  await setState(world, user, lostId, "stopped");
  await other.obey();
  await pass(world, host, 3 * HOUR_MS);
  await settleAll(world);
  await other.disconnect();
  await pass(world, host, 2 * HOUR_MS);
  await settleAll(world);
  await look(world);
  const arrears = await arrearsOf(world, user);
  assert.ok(arrears !== null);
  await pass(world, host, arrears.delete_at * 1000 - world.clock.now().getTime());
  for (let round = 0; round < 4; round += 1) {
    await look(world);
    await host.obey();
    await settleAll(world);
  }
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, lostId)).phase], ["ended", "ending"]);
  assert.equal(await arrearsOf(world, user), null);
  // The hold for the volume on the disconnected machine was released.
  const left = await creditOfUser(world, user);
  assert.equal(left.held, 0n);
  assert.ok(left.balance < 100_000_000n, String(left.balance));
  assert.equal((await subjects(world, user)).at(-1), "Your data was deleted");
  await world.assertBooks();
  // A host that connects again removes what was deleted, and nobody pays for it.
  await other.connect();
  for (let round = 0; round < 2; round += 1) {
    await other.obey();
    await settleAll(world);
  }
  assert.equal((await stored(world, lostId)).phase, "ended");
  assert.ok((await creditOfUser(world, user)).balance <= left.balance);
  await world.assertBooks();
});

test("a renter who pays in the last moment loses nothing", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aStoppedInstance(world, 1);
  await pass(world, host, 2 * HOUR_MS);
  await look(world);
  const { delete_at: deleteAt } = await arrearsOf(world, user);
  await pass(world, host, deleteAt * 1000 - world.clock.now().getTime());
  await giveCredit(world, user, 100);
  await look(world);
  assert.equal(await arrearsOf(world, user), null);
  assert.equal((await stored(world, id)).phase, "stopped");
});

test("arrears are shown to keys that may read billing, each to its own account", async (t) => {
  const world = await testApp(t);
  const { host, user } = await aStoppedInstance(world, 1);
  await pass(world, host, 2 * HOUR_MS);
  await look(world);
  assert.notEqual(await arrearsOf(world, user), null);
  assert.equal(await arrearsOf(world, await world.caller()), null);
  const blind = await world.caller({ permissions: { api: { instance_read: {} } } });
  assert.equal((await world.call({ url: "/api/v0/arrears/", secret: blind.secret })).status, 403);
  assert.equal((await world.call({ url: "/api/v0/arrears/" })).status, 401);
});
