import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import { DAY_MS, HOUR_MS, listedHost, pass } from "../../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { history, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";
import { chargeForStorage } from "../../../../../../test/support/storage.ts";

const MINUTE_MS = 60_000;
/** 10 GB for a dollar an hour. */
const STORAGE = { disk: 10, dollarsPerGbMonth: 72 } as const;

type Body = Readonly<Record<string, unknown>>;

async function setCap(world: TestApp, user: TestCaller, body: Body) {
  const answer = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.cap;
}

async function cappedOf(world: TestApp, user: TestCaller) {
  const answer = await world.call({ url: "/api/v0/arrears/", secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.arrears, null);
  return answer.body.caps;
}

async function subjects(world: TestApp, user: TestCaller): Promise<readonly string[]> {
  const { rows } = await world.env.pool.query<{ subject: string }>(
    `select subject from notices
     where user_id = $1 and kind in ('client:data_deletion_scheduled', 'client:data_deleted') order by id`,
    [user.id],
  );
  return rows.map(({ subject }) => subject);
}

async function settleAll(world: TestApp): Promise<void> {
  await settleNow(world);
  await world.env.pool.query("update volumes set settle_at = $1 where settle_at is not null", [world.clock.now()]);
  await world.runLoop("settle-volumes");
}

async function look(world: TestApp): Promise<void> {
  await world.runLoop("watch-capped-storage");
  await world.runLoop("follow-capped-storage");
}

/** A stopped instance that costs a dollar an hour. */
async function aStored(world: TestApp, user: TestCaller, host: FakeHost): Promise<number> {
  const id = await rentAndRun(world, user, host, { disk: STORAGE.disk });
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  await host.obey();
  await settleAll(world);
  return id;
}

async function aWorld(t: Parameters<typeof testApp>[0]) {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 8 });
  await chargeForStorage(world, host, STORAGE.dollarsPerGbMonth);
  return { world, host, user: await world.caller({ dollars: 1000 }) };
}

function untilDeletion(world: TestApp, { delete_at: deleteAt }: { readonly delete_at: number }): number {
  return deleteAt * 1000 - world.clock.now().getTime();
}

test("data for whose storage a cap leaves nothing is announced, kept until the stated time and deleted then; other data stays", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await aStored(world, user, host);
  const otherId = await aStored(world, user, host);
  const cap = await setCap(world, user, { scope: "instance", scope_id: id, period: "total", limit: 5 });
  await look(world);
  assert.deepEqual(await cappedOf(world, user), []);
  await pass(world, host, 8 * HOUR_MS);
  await settleAll(world);
  await look(world);
  await look(world);
  const [capped, ...more] = await cappedOf(world, user);
  const now = world.clock.now().getTime() / 1000;
  assert.deepEqual([more, capped.cap_id, capped.scope, capped.scope_id], [[], cap.id, "instance", id]);
  assert.deepEqual([capped.instance_ids, capped.volume_ids, capped.storage_per_hour], [[id], [], 1]);
  assert.deepEqual([capped.began_at, capped.delete_at], [now, now + 48 * 3600]);
  assert.deepEqual(await subjects(world, user), ["A cap leaves nothing for what you have stored"]);

  await pass(world, host, 25 * HOUR_MS);
  await look(world);
  await look(world);
  assert.deepEqual((await subjects(world, user)).slice(1), ["Data beyond a cap is deleted within a day"]);
  await pass(world, host, untilDeletion(world, capped) - MINUTE_MS);
  await settleAll(world);
  await look(world);
  assert.equal((await stored(world, id)).phase, "stopped");
  assert.equal((await cappedOf(world, user))[0].delete_at, capped.delete_at);

  await pass(world, host, MINUTE_MS);
  await look(world);
  assert.ok((await history(world, id)).some(([, to, cause]) => to === "ending" && cause === "cap_reached"));
  assert.deepEqual(await cappedOf(world, user), []);
  assert.deepEqual((await subjects(world, user)).slice(2), ["Data beyond a cap was deleted"]);
  await host.obey();
  await settleAll(world);
  assert.equal((await stored(world, id)).phase, "ended");
  assert.equal((await stored(world, otherId)).phase, "stopped");
  const lines = await linesOf(world, id);
  const sum = (of: "amount_nanos" | "unpaid_nanos") => lines.reduce((total, line) => total + line[of], 0n);
  assert.ok(sum("unpaid_nanos") > 50_000_000_000n, "unpaid amounts stay on their charge lines");
  assert.ok((await creditOfUser(world, user)).balance > 900_000_000_000n, "the balance could have paid");
  await look(world);
  assert.equal((await subjects(world, user)).length, 3);
  await world.assertBooks();
});

test("raising or removing a cap ends the stated deletion, and storage is charged again", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await aStored(world, user, host);
  const put = (limit: number) => setCap(world, user, { scope: "instance", scope_id: id, period: "total", limit });
  const cap = await put(2);
  await pass(world, host, 8 * HOUR_MS);
  await settleAll(world);
  await look(world);
  const [first] = await cappedOf(world, user);
  await put((await put(2)).spent + 23);
  await look(world);
  assert.equal((await cappedOf(world, user)).length, 1, "less than a day of storage is not enough");
  await put(cap.spent + 40);
  await look(world);
  assert.deepEqual(await cappedOf(world, user), []);
  const before = (await creditOfUser(world, user)).balance;
  await pass(world, host, 3 * HOUR_MS);
  await settleAll(world);
  const paid = before - (await creditOfUser(world, user)).balance;
  assert.ok(paid >= 3_000_000_000n && paid < 3_001_000_000n, String(paid));

  // A cap that is lowered again keeps the earlier stated time, but never less than two days.
  await put(0);
  await look(world);
  const [second] = await cappedOf(world, user);
  assert.deepEqual(untilDeletion(world, second), 48 * HOUR_MS);
  assert.ok(second.delete_at > first.delete_at);
  await pass(world, host, untilDeletion(world, second));
  assert.equal(
    (await world.call({ method: "DELETE", url: `/api/v0/caps/${cap.id}/`, secret: user.secret })).status,
    200,
  );
  await look(world);
  assert.deepEqual(await cappedOf(world, user), []);
  assert.equal((await stored(world, id)).phase, "stopped", "even in the last moment");
  await world.assertBooks();
});

test("a cap whose next period pays for the storage deletes nothing; one that cannot pay a day of it does", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await aStored(world, user, host);
  const small = await aStored(world, user, host);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "day", limit: 24 });
  await setCap(world, user, { scope: "instance", scope_id: small, period: "day", limit: 1 });
  for (let hour = 0; hour < 52; hour += 4) {
    await pass(world, host, 4 * HOUR_MS);
    await settleAll(world);
    await look(world);
    await host.obey();
  }
  await settleAll(world);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, small)).phase], ["stopped", "ended"]);
  assert.deepEqual(await cappedOf(world, user), []);
  await world.assertBooks();
});

test("a month that begins before the stated time ends it", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await aStored(world, user, host);
  // On the 30th of January, 15:00, with a cap that pays half a day, the deletion is stated.
  await pass(world, host, 29 * DAY_MS + 15 * HOUR_MS - (world.clock.now().getTime() % DAY_MS));
  await settleAll(world);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "month", limit: 12 });
  await look(world);
  const [capped] = await cappedOf(world, user);
  assert.equal(new Date(capped.delete_at * 1000).getUTCMonth(), 1);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "month", limit: 30 });
  await look(world);
  assert.equal((await cappedOf(world, user)).length, 1, "this month it leaves nothing");
  await pass(world, host, 34 * HOUR_MS);
  await look(world);
  assert.deepEqual(await cappedOf(world, user), []);
  const before = (await creditOfUser(world, user)).balance;
  await settleAll(world);
  assert.ok((await creditOfUser(world, user)).balance < before, "charged again");
  await world.assertBooks();
});

async function volumeCalled({ env }: TestApp, name: string): Promise<number | undefined> {
  const { rows } = await env.pool.query<{ id: number }>("select id from volumes where name = $1", [name]);
  return rows[0]?.id;
}

test("with many loops at once a deletion is stated, done and told of once, volumes of a key with its instances", async (t) => {
  const { world, host, user } = await aWorld(t);
  const made = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret: user.secret,
    body: { name: "another" },
  });
  const keyed = { ...user, secret: made.body.key };
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 100e9::bigint, 72000000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [host.machineId],
  );
  const volume = async (caller: TestCaller, name: string) => {
    const body = { id: 9001, size: 10, name };
    const answer = await world.call({ method: "PUT", url: "/api/v0/volumes/", secret: caller.secret, body });
    assert.equal(answer.status, 200, answer.text);
  };
  await volume(keyed, "keyed");
  await volume(user, "other");
  await host.obey();
  const id = await aStored(world, keyed, host);
  const otherId = await aStored(world, user, host);
  await setCap(world, user, { scope: "key", scope_id: made.body.id, period: "total", limit: 1 });
  await pass(world, host, 2 * HOUR_MS);
  await settleAll(world);
  const all = (name: string) => Promise.all(Array.from({ length: 6 }, () => world.runLoop(name)));
  await all("watch-capped-storage");
  const [capped, ...more] = await cappedOf(world, user);
  assert.deepEqual(
    [more.length, capped.instance_ids, capped.volume_ids],
    [0, [id], [await volumeCalled(world, "keyed")]],
  );
  await pass(world, host, untilDeletion(world, capped));
  for (let round = 0; round < 3; round += 1) {
    await all("follow-capped-storage");
    await all("watch-capped-storage");
    await host.obey();
    await settleAll(world);
  }
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, otherId)).phase], ["ended", "stopped"]);
  const volumes = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
  assert.deepEqual(
    volumes.body.volumes.map((one: { id: number }) => one.id),
    [await volumeCalled(world, "other")],
  );
  assert.equal((await subjects(world, user)).filter((subject) => subject.endsWith("was deleted")).length, 1);
  const { rows } = await world.env.pool.query("select outcome from cap_arrears");
  assert.deepEqual(rows, [{ outcome: "deleted" }]);
  await world.assertBooks();
});

test("data beyond a cap is shown to its own account alone", async (t) => {
  const { world, host, user } = await aWorld(t);
  await aStored(world, user, host);
  await setCap(world, user, { scope: "account", period: "total", limit: 0 });
  await look(world);
  assert.equal((await cappedOf(world, user)).length, 1);
  assert.deepEqual(await cappedOf(world, await world.caller()), []);
});

test("a day's cap that is used up every day still pays for storage from the next midnight on", async (t) => {
  const { world, host, user } = await aWorld(t);
  // From noon on, so that storage is due each noon.
  await pass(world, host, 12 * HOUR_MS);
  const id = await aStored(world, user, host);
  const limit = 30;
  await setCap(world, user, { scope: "account", period: "day", limit });
  const settleDue = async () => {
    await world.runLoop("settle-runs");
    await host.obey();
  };
  // Every day another charge uses up what the cap leaves, before the storage of the day is due.
  let startsAt = world.clock.now().getTime() % DAY_MS;
  for (let hour = 0; hour < 96; hour += 1, startsAt += HOUR_MS) {
    await pass(world, host, HOUR_MS);
    await settleDue();
    if (startsAt % DAY_MS < 6 * HOUR_MS || startsAt % DAY_MS >= 7 * HOUR_MS) continue;
    const { spent } = (await world.call({ url: "/api/v0/caps/", secret: user.secret })).body.caps[0];
    await world.env.pool.query(
      "update ledger_caps set spent_nanos = limit_nanos, period_started_at = date_trunc('day', $1::timestamptz, 'UTC')",
      [world.clock.now()],
    );
    assert.ok(spent <= limit);
  }
  const lines = await linesOf(world, id);
  const unpaidDays = new Set(
    lines.filter((line) => line.unpaid_nanos > 0n).map((line) => line.to_at.toISOString().slice(0, 10)),
  );
  const paid = lines.reduce((total, line) => total + line.amount_nanos, 0n);
  assert.deepEqual([...unpaidDays], ["2026-01-02"]);
  assert.equal(paid, 60_000_000_000n);
});
