import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { inTransaction } from "../../../../../../test/support/fixtures.ts";
import { reboot, rent, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";
import { disconnectUnowned } from "../../../supply/hosts/for-assembly.ts";
import { countedOf, running } from "../../../../../../test/support/hosts/counted-runs.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const LEASE_MS = 10 * MINUTE_MS;

test("an outage longer than the heartbeat lease counts nothing, and counting goes on after it", async (t) => {
  const { world, host, counted } = await running(t);
  world.clock.jump(MINUTE_MS);
  await host.disconnect();
  world.clock.jump(2 * LEASE_MS);
  await host.connect();
  await host.obey();
  assert.equal(await counted(), 0, "the minute before it was not reported either");
  world.clock.jump(MINUTE_MS);
  await host.obey();
  assert.equal(await counted(), MINUTE_MS);
});

test("an outage within the heartbeat lease is counted, as the counters prove", async (t) => {
  const { world, host, counted } = await running(t);
  world.clock.jump(MINUTE_MS);
  await host.obey();
  await host.disconnect();
  world.clock.jump(LEASE_MS - SECOND_MS);
  await host.connect();
  await host.obey();
  assert.equal(await counted(), MINUTE_MS + LEASE_MS - SECOND_MS);
});

test("a short restart of the server loses no second, and counts none twice", async (t) => {
  const secret = randomBytes(32);
  const world = await testApp(t, { secret });
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  world.clock.jump(90 * SECOND_MS);
  await host.obey();
  world.clock.jump(20 * SECOND_MS);
  await world.close();
  const again = await testApp(t, { env: world.env, clock: world.clock, secret });
  await inTransaction(world.env.database, (tx) => disconnectUnowned(tx, new Date(8.64e15)));
  world.clock.jump(30 * SECOND_MS);
  await host.connectTo(again.origin);
  await host.obey();
  assert.equal(await countedOf(again, id, 1), 140 * SECOND_MS);
});

test("reports of the last minute before a long outage of the server are kept", async (t) => {
  const { world, host, counted } = await running(t);
  world.clock.jump(2 * MINUTE_MS);
  await host.obey();
  world.clock.jump(40 * SECOND_MS);
  await host.obey();
  assert.equal(await counted(), 2 * MINUTE_MS, "it has not been stored yet");
  await world.close();
  assert.equal(await counted(), 160 * SECOND_MS);
});

test("counters of an unchanged run are stored once a minute, after much traffic, and when the host disconnects", async (t) => {
  const { world, host, tell, counted } = await running(t);
  world.clock.jump(MINUTE_MS);
  await tell(60 * SECOND_MS);
  world.clock.jump(10 * SECOND_MS);
  await tell(70 * SECOND_MS);
  assert.equal(await counted(), 60 * SECOND_MS);
  await tell(70 * SECOND_MS, { bytes: 257_000_000 });
  assert.equal(await counted(), 70 * SECOND_MS, "traffic may cost more than its hold");
  world.clock.jump(50 * SECOND_MS);
  await tell(120 * SECOND_MS, { bytes: 257_000_000 });
  assert.equal(await counted(), 70 * SECOND_MS);
  world.clock.jump(10 * SECOND_MS);
  await tell(130 * SECOND_MS, { bytes: 257_000_000 });
  assert.equal(await counted(), 130 * SECOND_MS, "a minute after the last time");
  world.clock.jump(5 * SECOND_MS);
  await tell(135 * SECOND_MS, { bytes: 257_000_000 });
  world.clock.jump(5 * SECOND_MS);
  await host.disconnect();
  await world.settled();
  assert.equal(await counted(), 135 * SECOND_MS, "no report is lost");
});

test("repeated, late and inflated reports add no time that was not", async (t) => {
  const { world, tell, counted } = await running(t);
  world.clock.jump(2 * MINUTE_MS);
  await tell(110 * SECOND_MS);
  await tell(50 * SECOND_MS, { state: "running" });
  await tell(110 * SECOND_MS);
  assert.equal(await counted(), 110 * SECOND_MS);
  world.clock.jump(MINUTE_MS);
  await tell(50 * SECOND_MS);
  assert.equal(await counted(), 110 * SECOND_MS);
  world.clock.jump(MINUTE_MS);
  await tell(Number.MAX_SAFE_INTEGER);
  assert.equal(await counted(), 4 * MINUTE_MS, "at most the time that has passed");
});

test("time after a lost host's last report is not counted, whenever the host reports it", async (t) => {
  const { world, host, user, id, tell, counted } = await running(t);
  world.clock.jump(2 * MINUTE_MS);
  await host.obey();
  await host.disconnect();
  await setState(world, user, id, "stopped");
  world.clock.jump(2 * LEASE_MS);
  assert.deepEqual(await world.runLoop("release-lost-hosts"), { machines: 1, released: 1 });
  assert.equal((await stored(world, id)).phase, "stopped");
  const { rows } = await world.env.pool.query(
    `select sealed_at = last_seen_at as "isClosed" from instance_runs
     join instances on instances.id = instance_id join machines on machines.id = machine_id`,
  );
  assert.deepEqual(rows, [{ isClosed: true }]);
  await host.connect();
  for (let round = 1; round <= 3; round += 1) {
    await tell(2 * LEASE_MS + round * MINUTE_MS, { state: round === 1 ? "stopped" : "running" });
    world.clock.jump(MINUTE_MS);
  }
  assert.equal(await counted(), 2 * MINUTE_MS);
});

test("an ended run counts no time after the next one has begun, nor after its receipt", async (t) => {
  const { world, host, user, id, tell, counted } = await running(t);
  world.clock.jump(2 * MINUTE_MS);
  await tell(2 * MINUTE_MS);
  await reboot(world, user, id);
  world.clock.jump(3 * SECOND_MS);
  await host.obey();
  world.clock.jump(10 * MINUTE_MS);
  await tell(60 * MINUTE_MS, { generation: 1, state: "stopped" });
  assert.equal(await counted(), 2 * MINUTE_MS + 3 * SECOND_MS, "it may have run until the second run began");
  await host.obey();
  assert.equal(await counted(2), 10 * MINUTE_MS);
  await setState(world, user, id, "stopped");
  await host.obey();
  world.clock.jump(5 * MINUTE_MS);
  await tell(60 * MINUTE_MS, { generation: 2, state: "stopped" });
  assert.equal(await counted(2), 10 * MINUTE_MS);
});

test("a run that its host fenced and started again before it got the order for the next one is counted up to that one", async (t) => {
  const { world, host, id, tell, counted } = await running(t);
  world.clock.jump(MINUTE_MS);
  await tell(MINUTE_MS);
  await host.disconnect();
  world.clock.jump(2 * LEASE_MS);
  await host.connect();
  assert.deepEqual([host.order(id)?.run, host.order(id)?.generation], ["running", 1], "the host starts it, as ordered");
  const fencedMs = MINUTE_MS + LEASE_MS;
  await tell(fencedMs, { state: "stopped" });
  assert.equal((await stored(world, id)).generation, 2);
  assert.equal(await counted(), MINUTE_MS);
  await host.disconnect();
  world.clock.jump(28 * SECOND_MS);
  await host.connect();
  const counters = (runningMs: number) => ({ running_ms: runningMs, received_bytes: 0, sent_bytes: 0 });
  const last = { instance_id: id, generation: 1, state: "stopped", counters: counters(fencedMs + 28_000) } as const;
  for (let round = 1; round <= 2; round += 1) {
    await host.report([last, { instance_id: id, generation: 2, state: "starting" }]);
    assert.equal(await counted(), MINUTE_MS + 28 * SECOND_MS);
    world.clock.jump(SECOND_MS);
  }
  await host.report([{ instance_id: id, generation: 2, state: "running", counters: counters(SECOND_MS) }]);
  await tell(2 * fencedMs, { state: "stopped" });
  assert.deepEqual([await counted(), await counted(2)], [MINUTE_MS + 29 * SECOND_MS, SECOND_MS], "one after the other");
  await world.runLoop("settle-runs");
  await world.assertBooks();
});

for (const [what, isLost] of [
  ["its host has reported that nothing runs", false],
  ["its host is lost", true],
] as const) {
  test(`earlier runs count nothing more either, once ${what}`, async (t) => {
    const { world, host, user, id, tell, counted } = await running(t);
    world.clock.jump(MINUTE_MS);
    await tell(MINUTE_MS);
    await reboot(world, user, id);
    await setState(world, user, id, "stopped");
    if (isLost) {
      await host.disconnect();
      world.clock.jump(2 * LEASE_MS);
      assert.deepEqual(await world.runLoop("release-lost-hosts"), { machines: 1, released: 1 });
      await host.connect();
    } else await host.obey();
    assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).generation], ["stopped", 2]);
    for (let round = 1; round <= 3; round += 1) {
      world.clock.jump(MINUTE_MS);
      await tell((1 + round) * MINUTE_MS, { state: round === 1 ? "stopped" : "running" });
    }
    assert.deepEqual([await counted(), await counted(2)], [MINUTE_MS, 0]);
    await world.assertBooks();
  });
}

/** A rented instance without any report yet; times count from its beginning. */
async function unheard(t: TestContext) {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const beganMs = world.clock.now().getTime();
  const say = (generation: number, state: "running" | "stopped", runningMs: number) => {
    const counters = { running_ms: runningMs, received_bytes: 0, sent_bytes: 0 };
    return { instance_id: id, generation, state, counters };
  };
  const counted = async () => {
    const { rows } = await world.env.pool.query<{ readonly from_at: Date; readonly to_at: Date }>(
      `select metered_from_at as from_at, metered_from_at + running_ms * interval '1 millisecond' as to_at
       from instance_runs where instance_id = $1 and metered_from_at is not null order by generation`,
      [id],
    );
    return rows.map((row) => [row.from_at.getTime() - beganMs, row.to_at.getTime() - beganMs]);
  };
  return { world, host, user, id, say, counted };
}

test("a run first reported late is never counted into the time of the next one", async (t) => {
  const { world, host, user, id, say, counted } = await unheard(t);
  // The report travelled half a second, in which the process went on.
  world.clock.jump(1500);
  await host.report([say(1, "running", 100)]);
  world.clock.jump(10 * SECOND_MS);
  await host.report([say(1, "running", 10_600)]);
  await reboot(world, user, id);
  world.clock.jump(300);
  await host.report([say(1, "stopped", 10_700), say(2, "running", 150)]);
  assert.deepEqual(await counted(), [
    [1400, 12_100],
    [12_100, 12_250],
  ]);
  await host.report([say(1, "stopped", 10_800)]);
  assert.deepEqual((await counted())[0], [1400, 12_100], "nor is a still later report");
});

test("a run is never counted into the time of a later one, even if the run between them was never reported", async (t) => {
  const { world, host, user, id, say, counted } = await unheard(t);
  world.clock.jump(2 * SECOND_MS);
  await host.report([say(1, "running", 1000)]);
  await reboot(world, user, id);
  world.clock.jump(10 * SECOND_MS);
  await world.call({ method: "PUT", url: `/api/v0/instances/recycle/${id}/`, secret: user.secret, body: {} });
  assert.equal((await stored(world, id)).generation, 3);
  world.clock.jump(10 * SECOND_MS);
  await host.report([say(3, "running", 4000)]);
  assert.deepEqual(await counted(), [
    [1000, 2000],
    [18_000, 22_000],
  ]);
  world.clock.jump(5 * SECOND_MS);
  await host.report([say(1, "stopped", 60_000)]);
  assert.deepEqual(await counted(), [
    [1000, 18_000],
    [18_000, 22_000],
  ]);
});

test("a run begins after all earlier runs, of which a report may also speak", async (t) => {
  const { world, host, user, id, say, counted } = await unheard(t);
  world.clock.jump(2 * SECOND_MS);
  await host.report([say(1, "running", 1000)]);
  await reboot(world, user, id);
  world.clock.jump(2 * SECOND_MS);
  await host.report([say(2, "running", 500)]);
  world.clock.jump(2 * SECOND_MS);
  // A changed message, so that the counters are stored at once.
  await host.report([{ ...say(2, "running", 2900), status_msg: "success, running" }]);
  await reboot(world, user, id);
  world.clock.jump(300);
  await host.report([say(1, "stopped", 1000), say(3, "running", 200)]);
  assert.deepEqual(await counted(), [
    [1000, 2000],
    [3500, 6400],
    [6400, 6600],
  ]);
});

test("a report that waited to be stored counts for the time at which it arrived", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  world.clock.jump(SECOND_MS);
  const arrivedAt = world.clock.now();
  const counters = { running_ms: 400, received_bytes: 0, sent_bytes: 0 };
  const other = await world.env.pool.connect();
  await other.query("begin");
  await other.query("select from machines where id = $1 for update", [host.machineId]);
  const stored = [
    host.report([{ instance_id: id, generation: 1, state: "starting" }]),
    host.report([{ instance_id: id, generation: 1, state: "running", counters }]),
  ];
  await host.read();
  world.clock.jump(10 * SECOND_MS);
  await other.query("commit");
  other.release();
  await Promise.all(stored);
  const { rows } = await world.env.pool.query<{ metered_from_at: Date; last_counted_at: Date }>(
    "select metered_from_at, last_counted_at from instance_runs where instance_id = $1",
    [id],
  );
  const beganAt = new Date(arrivedAt.getTime() - 400);
  assert.deepEqual(rows, [{ metered_from_at: beganAt, last_counted_at: arrivedAt }]);
});

test("an instance is metered from its first proven running, and is due at once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const { rows } = await world.env.pool.query(
    `select metered_from_at, storage_charged_until_at, settle_at,
       (select metered_from_at from instance_runs where instance_id = tab.instance_id) as run_from
     from instance_tabs tab where instance_id = $1`,
    [id],
  );
  const now = world.clock.now();
  assert.deepEqual(rows, [{ metered_from_at: now, storage_charged_until_at: now, settle_at: now, run_from: now }]);
  assert.deepEqual(world.complaints, []);
});
