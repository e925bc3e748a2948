// A run costs its renter something after evidence that the server fetched itself, apart from a first minute.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rent, show, type RentOptions } from "../../../../../../test/support/rentals.ts";
import { audit } from "../../../money/audit/audit-service.ts";

const SECOND_MS = 1_000;
const DOCKER = { engine: { kind: "docker", version: "29" } } as const;
const GREETING = "SSH-2.0-berth\r\n";

/** A rental on a machine with a real engine; `door.said` is the greeting at the door of its container. */
async function aRealRental(t: TestContext, options: RentOptions = { runtype: "ssh" }) {
  const world = await testApp(t);
  const [owner, user] = [await world.caller(), await world.caller()];
  const door: { said: string | undefined } = { said: undefined };
  const host = await world.host({ owner, greeting: () => door.said });
  await host.disconnect();
  await host.connect(DOCKER);
  await world.settled();
  const id = await rent(world, user, host, options);
  await host.synced();
  const say = (
    runningMs: number,
    { state = "running", bytes = 0 }: { state?: "pulling" | "running"; bytes?: number } = {},
  ) => {
    const counters = { running_ms: runningMs, received_bytes: bytes, sent_bytes: 0 };
    return host.report([{ instance_id: id, generation: 1, state, status_msg: `${state} ${runningMs}`, counters }]);
  };
  return { world, owner, user, host, id, door, say };
}

async function countedOf({ env }: TestApp, id: number) {
  const { rows } = await env.pool.query<{ running_ms: bigint; received_bytes: bigint }>(
    "select running_ms, received_bytes from instance_runs where instance_id = $1",
    [id],
  );
  return { runningMs: rows[0]?.running_ms, receivedBytes: rows[0]?.received_bytes };
}

async function flagKinds(world: TestApp, owner: TestCaller): Promise<readonly string[]> {
  const { body } = await world.call({ url: "/api/v0/hosts/flags/", secret: owner.secret });
  return body.flags.map(({ kind }: { kind: string }) => kind);
}

async function assertSound({ env, clock }: TestApp): Promise<void> {
  const { checks } = await audit({ database: env.database, clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
}

test("an honest host loses no second to the evidence, and its renter sees the instance run at once", async (t) => {
  const { world, owner, user, id, door, say } = await aRealRental(t);
  door.said = GREETING;
  world.clock.jump(5 * SECOND_MS);
  await say(4 * SECOND_MS);
  assert.equal((await show(world, user, id)).actual_status, "running");
  assert.equal((await countedOf(world, id)).runningMs, 4_000n);
  assert.deepEqual(await world.runLoop("reach-starts"), { tried: 1, reached: 1 });
  assert.deepEqual(await world.runLoop("reach-starts"), { tried: 0, reached: 0 }, "a run is reached once");
  world.clock.jump(600 * SECOND_MS);
  await say(604 * SECOND_MS);
  assert.equal((await countedOf(world, id)).runningMs, 604_000n);
  await world.runLoop("settle-runs");
  assert.deepEqual(await flagKinds(world, owner), []);
  await assertSound(world);
});

test("a host whose report that a run has not begun waits to be stored loses no time by it, and is not flagged", async (t) => {
  const { world, owner, host, id, door, say } = await aRealRental(t);
  door.said = GREETING;
  const holder = await world.env.pool.connect();
  await holder.query("begin");
  await holder.query("select from machines where id = $1 for update", [host.machineId]);
  const words = [say(0, { state: "pulling" })];
  await soon("the report at the lock", async () => {
    const { rowCount } = await world.env.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return (rowCount ?? 0) > 0;
  });
  // Reports of one machine are stored one after the other.
  words.push(say(1, { state: "pulling" }));
  await host.read();
  world.clock.jump(60 * SECOND_MS);
  words.push(say(59 * SECOND_MS));
  await host.read();
  await holder.query("commit");
  holder.release();
  await Promise.all(words);
  assert.equal((await countedOf(world, id)).runningMs, 59_000n);
  assert.deepEqual(await flagKinds(world, owner), []);
  await assertSound(world);
});

test("a host's word alone is good for a minute: further time is never charged, traffic included", async (t) => {
  const { world, owner, id, door, say } = await aRealRental(t);
  let passedSeconds = 0;
  const passTo = async (seconds: number) => {
    world.clock.jump((seconds - passedSeconds) * SECOND_MS);
    passedSeconds = seconds;
    await say(seconds * SECOND_MS - 500, { bytes: seconds * 1_000 });
  };
  for (const seconds of [50, 100, 200, 300]) {
    await passTo(seconds);
    assert.deepEqual(await world.runLoop("reach-starts"), { tried: 1, reached: 0 });
  }
  assert.deepEqual(await countedOf(world, id), { runningMs: 60_000n, receivedBytes: 100_000n });
  assert.deepEqual(await flagKinds(world, owner), []);
  await passTo(310);
  assert.deepEqual(await flagKinds(world, owner), ["unproven_start"], "after five minutes it is flagged");
  door.said = GREETING;
  assert.deepEqual(await world.runLoop("reach-starts"), { tried: 1, reached: 1 });
  await passTo(340);
  assert.deepEqual(await countedOf(world, id), { runningMs: 90_000n, receivedBytes: 130_000n }, "it counts on");
  await world.runLoop("settle-runs");
  await assertSound(world);
});

test("an answer that is not an SSH server's is no evidence", async (t) => {
  const { world, door, say } = await aRealRental(t);
  door.said = "HTTP/1.1 200 OK\r\n";
  world.clock.jump(5 * SECOND_MS);
  await say(4 * SECOND_MS);
  assert.deepEqual(await world.runLoop("reach-starts"), { tried: 1, reached: 0 });
});

test("a container without a door is charged by its host's word, and nobody is flagged for it", async (t) => {
  const { world, owner, id, say } = await aRealRental(t, { runtype: "args" });
  world.clock.jump(600 * SECOND_MS);
  await say(590 * SECOND_MS);
  assert.deepEqual(await world.runLoop("reach-starts"), { tried: 0, reached: 0 });
  assert.equal((await countedOf(world, id)).runningMs, 590_000n);
  assert.deepEqual(await flagKinds(world, owner), []);
  await assertSound(world);
});

test("a start quicker than any engine's is flagged", async (t) => {
  const { world, owner, say } = await aRealRental(t);
  world.clock.jump(SECOND_MS);
  await say(SECOND_MS - 20);
  assert.deepEqual(await flagKinds(world, owner), ["impossible_start"]);
});

test("a host that reported that it fetches the image is held to it, despite other reports in between", async (t) => {
  const { world, host, id, say } = await aRealRental(t);
  world.clock.jump(40 * SECOND_MS);
  await say(0, { state: "pulling" });
  await host.report([{ instance_id: id, generation: 1, state: "starting", status_msg: "starting" }]);
  world.clock.jump(2 * SECOND_MS);
  await say(41 * SECOND_MS);
  assert.equal((await countedOf(world, id)).runningMs, 2_000n);
});

/** Deviations of the clocks of two servers, one of which heard the image being fetched and one the start. */
const CLOCKS = [
  { fetchMs: 0, startMs: -20 * SECOND_MS },
  { fetchMs: 0, startMs: -1_950 },
  { fetchMs: 20 * SECOND_MS, startMs: 0 },
];

for (const { fetchMs, startMs } of CLOCKS) {
  test(`an honest start is not flagged when one server's clock is ${fetchMs} ms off and another's ${startMs} ms`, async (t) => {
    const { world, owner, say } = await aRealRental(t);
    world.clock.skewMs = fetchMs;
    world.clock.jump(SECOND_MS);
    await say(0, { state: "pulling" });
    world.clock.skewMs = startMs;
    world.clock.jump(3 * SECOND_MS);
    await say(2 * SECOND_MS);
    assert.deepEqual(await flagKinds(world, owner), []);
  });
}
