import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { soon, testApp } from "../../../../../../test/support/app.ts";
import {
  destroy,
  history,
  reboot,
  rent,
  rentAndRun,
  setState,
  show,
  stored,
} from "../../../../../../test/support/rentals.ts";

const HOUR_MS = 3_600_000;

test("an instance goes through its whole life, and each step has its event", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const id = await rent(world, user, host, { env: "-p 8080:8080" });
  assert.equal((await show(world, user, id)).actual_status, null);
  assert.deepEqual((await show(world, user, id)).ports, {});
  await host.synced();
  assert.deepEqual(host.order(id)?.gpu_uuids, [host.gpus[0]?.uuid]);
  await host.obey();
  const running = await show(world, user, id);
  assert.equal(running.actual_status, "running");
  assert.deepEqual(running.ports["8080/tcp"], [{ HostIp: "0.0.0.0", HostPort: "40000" }]);
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  assert.equal((await stored(world, id)).leases, 1, "devices are kept until the host confirms");
  await host.obey();
  // The hold is released once the last of the run is charged.
  await world.runLoop("settle-runs");
  assert.deepEqual(await stored(world, id), {
    ...(await stored(world, id)),
    phase: "stopped",
    leases: 0,
    hold: null,
    generation: 1,
  });
  await setState(world, user, id, "running");
  await host.obey();
  assert.equal((await stored(world, id)).generation, 2);
  await reboot(world, user, id);
  assert.equal((await show(world, user, id)).actual_status, "rebooting");
  await host.obey();
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).generation], ["running", 3]);
  await destroy(world, user, id);
  assert.equal((await show(world, user, id)).actual_status, "destroyed");
  await host.obey();
  assert.deepEqual((await stored(world, id)).phase, "ended");
  assert.deepEqual(await history(world, id), [
    [null, "starting", "created"],
    ["starting", "running", "container_running"],
    ["running", "stopping", "stop_requested"],
    ["stopping", "stopped", "container_stopped"],
    ["stopped", "scheduled", "start_requested"],
    ["scheduled", "starting", "devices_granted"],
    ["starting", "running", "container_running"],
    ["running", "starting", "reboot"],
    ["starting", "running", "container_running"],
    ["running", "ending", "destroy_requested"],
    ["ending", "ended", "container_removed"],
  ]);
  await world.assertBooks();
  world.clock.advance(11 * 60_000);
  assert.equal(await show(world, user, id), null, "the tombstone is gone");
  assert.deepEqual(world.complaints, []);
});

test("a report of an older generation changes nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await reboot(world, user, id);
  await host.synced();
  for (const state of ["stopped", "absent", "running", "exited"] as const) {
    await host.report([{ instance_id: id, generation: 1, state }]);
    assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).generation], ["starting", 2]);
  }
  await destroy(world, user, id);
  await host.synced();
  await host.report([{ instance_id: id, generation: 1, state: "absent" }]);
  assert.equal((await stored(world, id)).phase, "ending");
});

test("a host cannot touch an instance of another host", async (t) => {
  const world = await testApp(t);
  const [host, hostile, user] = [await world.host(), await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const before = await show(world, user, id);
  world.clock.advance(5_000);
  for (const state of ["absent", "stopped", "failed"] as const) {
    const counters = { running_ms: 3_000_000, received_bytes: 1, sent_bytes: 1 };
    await hostile.report([{ instance_id: id, generation: 1, state, status_msg: "hacked", counters }]);
  }
  assert.deepEqual(await show(world, user, id), {
    ...before,
    duration: before.duration - 5,
    time_remaining: "89 d 23 h",
  });
  const { rows } = await world.env.pool.query("select running_ms from instance_runs where instance_id = $1", [id]);
  assert.deepEqual(rows, [{ running_ms: 0n }], "and counts nothing for it");
});

test("two hosts that name one instance in the same moment are told apart", async (t) => {
  const world = await testApp(t);
  const [host, hostile, user] = [await world.host(), await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const seen = { instance_id: id, generation: 1 };
  await Promise.all([
    hostile.report([{ ...seen, state: "failed" }]),
    host.report([{ ...seen, state: "pulling" }]),
    host.report([{ ...seen, state: "running" }]),
    hostile.report([{ ...seen, state: "absent" }]),
  ]);
  assert.equal((await stored(world, id)).phase, "running");
});

test("a run never counts more than the time that has passed", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  world.clock.advance(7_000);
  const counters = { running_ms: Number.MAX_SAFE_INTEGER, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters }]);
  const { rows } = await world.env.pool.query("select running_ms from instance_runs where instance_id = $1", [id]);
  assert.deepEqual(rows, [{ running_ms: 7_000n }]);
});

test("the last count of an ended run is kept when it arrives with the present run", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  world.clock.advance(5_000);
  await reboot(world, user, id);
  await host.synced();
  const counters = { running_ms: 5_000, received_bytes: 10, sent_bytes: 20 };
  await host.report([
    { instance_id: id, generation: 1, state: "stopped", counters },
    { instance_id: id, generation: 2, state: "running" },
  ]);
  assert.equal((await stored(world, id)).phase, "running");
  const { rows } = await world.env.pool.query(
    "select generation, running_ms from instance_runs where instance_id = $1 order by generation",
    [id],
  );
  assert.deepEqual(rows, [
    { generation: 1, running_ms: 5_000n },
    { generation: 2, running_ms: 0n },
  ]);
});

test("a host's observation from before the order to stop is not a receipt", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  const version = host.desired?.version ?? 0;
  await setState(world, user, id, "stopped");
  await host.synced();
  for (const state of ["created", "exited", "stopped", "absent"] as const) {
    await host.report([{ instance_id: id, generation: 1, state }], { version });
    assert.equal((await stored(world, id)).phase, "stopping", `${state} came from before the order`);
  }
  await host.report([{ instance_id: id, generation: 1, state: "created" }]);
  assert.equal((await stored(world, id)).phase, "stopped");
});

test("an instance whose process has ended stops although its host reports no change", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const exited = { instance_id: id, generation: 1, state: "exited" as const, status_msg: "ended with code 1" };
  await host.report([exited]);
  assert.deepEqual((await show(world, user, id)).actual_status, "exited");
  assert.equal((await stored(world, id)).leases, 1, "its devices are kept until its owner decides");
  await setState(world, user, id, "stopped");
  await host.synced();
  await host.report([exited]);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).leases], ["stopped", 0]);
});

test("an instance that its host fenced by itself starts again in a new run", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await host.report([{ instance_id: id, generation: 1, state: "stopped", status_msg: "lease expired" }]);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).generation], ["starting", 2]);
  await host.synced();
  // A container that is kept for the new run, and has not begun it, is not a second fence.
  await host.report([{ instance_id: id, generation: 2, state: "stopped" }]);
  assert.equal((await stored(world, id)).generation, 2);
});

test("a disconnected host shows offline, and its instances come back with it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const [running, halted] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  await setState(world, user, halted, "stopped");
  await host.obey();
  await host.disconnect();
  assert.equal((await show(world, user, running)).actual_status, "running", "a short absence shows nothing");
  world.clock.advance(61_000);
  assert.deepEqual(
    [(await show(world, user, running)).actual_status, (await show(world, user, halted)).actual_status],
    ["offline", "offline"],
  );
  assert.equal((await show(world, user, running)).intended_status, "running");
  await host.connect();
  await host.obey();
  assert.equal((await show(world, user, running)).actual_status, "running");
  assert.equal((await show(world, user, halted)).actual_status, "stopped");
  assert.equal((await stored(world, running)).generation, 1);
});

test("a certain loss of the host frees the devices of leaving instances and never those of running ones", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  const [running, stopping, ending] = [
    await rentAndRun(world, user, host),
    await rentAndRun(world, user, host),
    await rentAndRun(world, user, host),
  ];
  await host.disconnect();
  await setState(world, user, stopping, "stopped");
  await destroy(world, user, ending);
  world.clock.advance(9 * 60_000);
  assert.deepEqual(await world.runLoop("release-lost-hosts"), { machines: 0, released: 0 });
  assert.equal((await stored(world, stopping)).leases, 1);
  world.clock.advance(3 * 60_000);
  assert.deepEqual(await world.runLoop("release-lost-hosts"), { machines: 1, released: 2 });
  assert.deepEqual([(await stored(world, stopping)).phase, (await stored(world, stopping)).leases], ["stopped", 0]);
  assert.deepEqual([(await stored(world, ending)).phase, (await stored(world, ending)).leases], ["ended", 0]);
  assert.deepEqual([(await stored(world, running)).phase, (await stored(world, running)).leases], ["running", 1]);
  await host.connect();
  await host.synced();
  assert.equal(host.order(ending), undefined, "the rest of it is an orphan");
  await world.assertBooks();
});

test("an instance that does not start in an hour is given up", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  await host.synced();
  await host.report([{ instance_id: id, generation: 1, state: "failed", status_msg: "no such image" }]);
  world.clock.jump(HOUR_MS - 1000);
  assert.deepEqual(await world.runLoop("enforce-deadlines"), { overdue: 0 });
  world.clock.jump(2000);
  assert.deepEqual(await world.runLoop("enforce-deadlines"), { overdue: 1 });
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).desired], ["stopping", "stopped"]);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "stopped");
  await world.assertBooks();
});

test("a host that does not stop an instance gets the order again, and keeps the devices until it reports the stop", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await setState(world, user, id, "stopped");
  await host.synced();
  const version = host.desired?.version ?? 0;
  world.clock.jump(61_000);
  assert.deepEqual(await world.runLoop("enforce-deadlines"), { overdue: 1 });
  await world.settled();
  await soon("the order to come again", () => (host.desired?.version ?? 0) > version);
  await host.report([]);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).leases], ["stopping", 1]);
  assert.deepEqual(await world.runLoop("enforce-deadlines"), { overdue: 0 }, "not in every run of the loop");
});

test("a rental that reaches its end date stops and does not start again", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  world.clock.jump(91 * 24 * HOUR_MS);
  assert.equal((await setState(world, user, id, "running")).body.error, "contract_ended");
  assert.deepEqual(await world.runLoop("end-contracts"), { stopped: 1 });
  const refused = await setState(world, user, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [400, "contract_ended"], "nor while it is still stopping");
  await host.obey();
  assert.equal((await show(world, user, id)).actual_status, "stopped");
  assert.deepEqual(await world.runLoop("end-contracts"), { stopped: 0 });
  assert.equal((await destroy(world, user, id)).status, 200);
  await world.assertBooks();
});

test("a second stop cancels a waiting start", async (t) => {
  const world = await testApp(t);
  const [host, one, other] = [await world.host({ gpus: 1 }), await world.caller(), await world.caller()];
  const id = await rentAndRun(world, one, host);
  await setState(world, one, id, "stopped");
  await host.obey();
  await rentAndRun(world, other, host);
  assert.equal((await setState(world, one, id, "running")).status, 200, "waiting is a success");
  assert.equal((await show(world, one, id)).actual_status, "scheduling");
  await world.assertBooks();
  await setState(world, one, id, "stopped");
  await world.runLoop("settle-runs");
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).hold], ["stopped", null]);
  await world.assertBooks();
});

test("a restarted server loses nothing", async (t) => {
  const secret = randomBytes(32);
  const world = await testApp(t, { secret });
  const [host, user] = [await world.host(), await world.caller()];
  const [running, waiting] = [await rentAndRun(world, user, host), await rent(world, user, host)];
  const before = await show(world, user, running);
  await world.close();
  const again = await testApp(t, { env: world.env, clock: world.clock, secret });
  assert.deepEqual(await show(again, user, running), before);
  const machineId = host.machineId;
  await host.connectTo(again.origin);
  assert.equal(host.machineId, machineId);
  assert.deepEqual([...(await again.offersOf(host)).keys()], []);
  await host.obey();
  assert.equal((await show(again, user, waiting)).actual_status, "running");
  assert.equal((await stored(again, running)).generation, 1, "a running instance is left alone");
  await again.assertBooks();
  await again.close();
});
