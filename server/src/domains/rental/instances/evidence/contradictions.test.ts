import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { reboot, rent } from "../../../../../../test/support/rentals.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { watchProxiedTraffic } from "../traffic/proxied-traffic-service.ts";

const SECOND_MS = 1_000;

async function aRental(t: TestContext) {
  const world = await testApp(t);
  const [owner, user] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner });
  const id = await rent(world, user, host);
  await host.synced();
  const say = (runningMs: number, state: "pulling" | "running" = "running", bytes = 0) => {
    const counters = { running_ms: runningMs, received_bytes: bytes, sent_bytes: 0 };
    return host.report([{ instance_id: id, generation: 1, state, status_msg: `${state} ${runningMs}`, counters }]);
  };
  return { world, owner, id, say };
}

async function flagKinds(world: TestApp, owner: TestCaller): Promise<readonly string[]> {
  const { body } = await world.call({ url: "/api/v0/hosts/flags/", secret: owner.secret });
  return body.flags.map(({ kind }: { kind: string }) => kind);
}

async function runningMsOf({ env }: TestApp, id: number): Promise<bigint | undefined> {
  const { rows } = await env.pool.query<{ running_ms: bigint }>(
    "select running_ms from instance_runs where instance_id = $1",
    [id],
  );
  return rows[0]?.running_ms;
}

test("time in which the host reported that the image is being fetched is never charged, and claiming it is flagged", async (t) => {
  const { world, owner, id, say } = await aRental(t);
  world.clock.jump(60 * SECOND_MS);
  await say(0, "pulling");
  world.clock.jump(2 * SECOND_MS);
  await say(61 * SECOND_MS);
  assert.equal(await runningMsOf(world, id), 2_000n);
  assert.deepEqual(await flagKinds(world, owner), ["impossible_start"]);
  world.clock.jump(3 * SECOND_MS);
  await say(64 * SECOND_MS);
  assert.equal(await runningMsOf(world, id), 5_000n, "it counts on from there");
});

test("an honest start after a fetch is counted to the millisecond, and not flagged", async (t) => {
  const { world, owner, id, say } = await aRental(t);
  world.clock.jump(60 * SECOND_MS);
  await say(0, "pulling");
  world.clock.jump(2 * SECOND_MS);
  await say(1_500);
  assert.equal(await runningMsOf(world, id), 1_500n);
  assert.deepEqual(await flagKinds(world, owner), []);
});

test("a start before its order is flagged, and only the time since the order counts", async (t) => {
  const { world, owner, id, say } = await aRental(t);
  world.clock.jump(SECOND_MS);
  await say(60 * SECOND_MS);
  assert.equal(await runningMsOf(world, id), 1_000n);
  assert.deepEqual(await flagKinds(world, owner), ["impossible_start"]);
});

test("counters beyond the measured uplink are flagged, and honest ones are not", async (t) => {
  const { world, owner, say } = await aRental(t);
  world.clock.jump(10 * SECOND_MS);
  // The uplink of 1 Gbit/s carries 1.25 GB in that time.
  await say(8 * SECOND_MS, "running", 1_250_000_000);
  assert.deepEqual(await flagKinds(world, owner), []);
  world.clock.jump(SECOND_MS);
  await say(9 * SECOND_MS, "running", 500_000_000_000);
  assert.deepEqual(await flagKinds(world, owner), ["traffic_beyond_line"]);
});

test("containers that together move more than their machine's uplink carries are flagged, though each is within its bounds", async (t) => {
  const world = await testApp(t);
  const [owner, user] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 6 });
  const ids: number[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await rent(world, user, host));
  await host.synced();
  const say = (minutes: number, gigabytes: number) => {
    const counters = { running_ms: minutes * 60 * SECOND_MS - 1_000, received_bytes: gigabytes * 1e9, sent_bytes: 0 };
    const status_msg = `running ${minutes}`;
    return host.report(
      ids.map((id) => ({ instance_id: id, generation: 1, state: "running" as const, status_msg, counters })),
    );
  };
  for (let minutes = 1; minutes <= 12; minutes += 1) {
    world.clock.jump(60 * SECOND_MS);
    // An uplink of 1 Gbit/s carries 7.5 GB a minute: a sixth of it each.
    await say(minutes, minutes);
  }
  assert.deepEqual(await flagKinds(world, owner), []);
  for (let minutes = 13; minutes <= 24; minutes += 1) {
    world.clock.jump(60 * SECOND_MS);
    // Six times the uplink in all, and no more than the uplink each.
    await say(minutes, 12 + (minutes - 12) * 7.5);
  }
  assert.deepEqual(await flagKinds(world, owner), ["traffic_beyond_line"]);
});

/** A rental whose container sends bytes through the servers' proxy, and whose host reports a count of them. */
async function aProxiedRental(t: TestContext) {
  const world = await testApp(t);
  const [owner, user] = [await world.caller(), await world.caller()];
  const host = await world.host({ owner });
  const id = await rent(world, user, host);
  await host.synced();
  let ranMs = 0;
  const pass = async (seconds: number, sentBytes: number) => {
    world.clock.jump(seconds * SECOND_MS);
    ranMs += seconds * SECOND_MS;
    const counters = { running_ms: ranMs - SECOND_MS, received_bytes: 0, sent_bytes: sentBytes };
    const status_msg = `running ${ranMs}`;
    await host.report([{ instance_id: id, generation: 1, state: "running", status_msg, counters }]);
  };
  const carry = (gigabytes: number, openedAt = world.clock.now()) =>
    withTransaction(world.env.database, world.clock, (tx) =>
      watchProxiedTraffic(tx, [
        { instanceId: asId<InstanceId>(id), openedAt, bytes: BigInt(gigabytes) * 1_000_000_000n },
      ]),
    );
  const compare = () => world.runLoop("watch-proxied-traffic");
  return { world, owner, user, host, id, pass, carry, compare };
}

test("a host that counts fewer bytes than its container sent through the servers is flagged, after time to count them", async (t) => {
  const { world, owner, pass, carry, compare } = await aProxiedRental(t);
  await pass(60, 0);
  // Two servers carry one part each.
  await carry(3);
  await carry(4);
  await pass(240, 0);
  assert.deepEqual(await compare(), { compared: 0, flagged: 0 }, "its count may still be on its way");
  await pass(60, 1_500_000_000);
  assert.deepEqual(await compare(), { compared: 1, flagged: 1 });
  assert.deepEqual(await compare(), { compared: 0, flagged: 0 }, "each comparison is made once");
  assert.deepEqual(await flagKinds(world, owner), ["traffic_below_proxied"]);
});

test("an honest host is not flagged for bytes that the servers carried after its last count", async (t) => {
  const { world, owner, pass, carry, compare } = await aProxiedRental(t);
  await pass(60, 0);
  await carry(3);
  await pass(250, 3_100_000_000);
  await carry(20);
  await pass(60, 3_200_000_000);
  assert.deepEqual(await compare(), { compared: 1, flagged: 0 }, "only bytes carried well before are compared");
  await pass(310, 23_300_000_000);
  assert.deepEqual(await compare(), { compared: 1, flagged: 0 });
  assert.deepEqual(await flagKinds(world, owner), []);
});

test("bytes of connections that may belong to an earlier run, or to a rental that is over, are not held against any host", async (t) => {
  const { world, owner, user, id, pass, carry, compare } = await aProxiedRental(t);
  await pass(60, 0);
  const beforeRestart = world.clock.now();
  await reboot(world, user, id);
  await carry(50, beforeRestart);
  await carry(50, new Date(beforeRestart.getTime() + 5 * SECOND_MS));
  const { rowCount } = await world.env.pool.query("select from proxied_traffic");
  assert.equal(rowCount, 0);
  assert.deepEqual(await compare(), { compared: 0, flagged: 0 });
  assert.deepEqual(await flagKinds(world, owner), []);
});
