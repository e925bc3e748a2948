import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuHealth } from "../../../../../../protocol/index.ts";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/hosts/joins.ts";
import { askFor, rent, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

const LOST = "the GPU is missing: it has fallen off the bus or was taken out";

/** Reports the host's GPUs; `sick` maps the places of sick ones to their problems. */
function healthOf(host: FakeHost, sick: Readonly<Record<number, string>> = {}): GpuHealth[] {
  return host.gpus.map(({ uuid, index }) => ({
    uuid,
    is_healthy: sick[index] === undefined,
    reason: sick[index] ?? "",
    utilization_percent: 50 + index,
    temperature_c: 60 + index,
    used_memory_mb: 4_000 + index,
  }));
}

async function tell(world: TestApp, host: FakeHost, sick: Readonly<Record<number, string>> = {}): Promise<void> {
  await host.report(host.obedience(), { gpus: healthOf(host, sick) });
  await world.settled();
}

async function searched(world: TestApp, host: FakeHost): Promise<number[]> {
  const body = { machine_id: { eq: host.machineId }, rentable: { eq: true }, limit: 100 };
  const answer = await world.call({ method: "POST", url: "/api/v0/bundles/", body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.offers.map((offer: { num_gpus: number }) => offer.num_gpus).toSorted();
}

async function eventsOf(world: TestApp, id: number): Promise<string[]> {
  const { rows } = await world.env.pool.query<{ cause: string }>(
    "select cause from instance_events where instance_id = $1 and cause like 'gpu_%' order by id",
    [id],
  );
  return rows.map((row) => row.cause);
}

test("a sick GPU is out of the search and refused at once, and back when it is well", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const whole = (await world.offersOf(host)).get(2);
  assert.deepEqual(await searched(world, host), [1, 2]);
  await tell(world, host, { 0: LOST });
  assert.deepEqual(await searched(world, host), [1]);
  const refused = await world.call({
    method: "PUT",
    url: `/api/v0/asks/${whole}/`,
    secret: user.secret,
    body: { image: "busybox" },
  });
  assert.equal(refused.status, 410, refused.text);
  await tell(world, host, { 0: LOST, 1: "Xid 48: uncorrectable memory error" });
  assert.deepEqual(await searched(world, host), []);
  await tell(world, host);
  assert.deepEqual(await searched(world, host), [1, 2]);
  await rentAndRun(world, user, host, { size: 2 });
});

test("a rental gets a healthy GPU, never a sick one", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 3 }), await world.caller()];
  await tell(world, host, { 0: LOST, 2: LOST });
  const id = await rent(world, user, host);
  await host.synced();
  assert.deepEqual(host.order(id)?.gpu_uuids, [host.gpus[1]?.uuid]);
  assert.equal((await world.offersOf(host)).size, 0);
});

test("the renter of a GPU that becomes sick is told while it is sick, and keeps it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { size: 1 });
  const other = await rentAndRun(world, user, host, { size: 1 });
  await tell(world, host, { 0: "Xid 79: the GPU has fallen off the bus" });
  const record = await show(world, user, id);
  assert.equal(record.actual_status, "running");
  assert.match(record.status_msg, /^success, running .*; GPU 0: Xid 79: the GPU has fallen off the bus$/);
  assert.doesNotMatch((await show(world, user, other)).status_msg, /GPU/);
  await tell(world, host, { 0: "Xid 79: and more" });
  assert.match((await show(world, user, id)).status_msg, /and more/);
  assert.deepEqual(await eventsOf(world, id), ["gpu_unhealthy"]);
  await tell(world, host);
  assert.doesNotMatch((await show(world, user, id)).status_msg, /GPU/);
  assert.deepEqual(await eventsOf(world, id), ["gpu_unhealthy", "gpu_healthy"]);
  assert.deepEqual(await eventsOf(world, other), []);
});

test("a sick GPU that is given back stays off the market, and its next renter is not told", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { size: 1 });
  await tell(world, host, { 0: LOST });
  await setState(world, user, id, "stopped");
  await host.synced();
  await tell(world, host, { 0: LOST });
  assert.deepEqual(await searched(world, host), [1]);
  assert.doesNotMatch((await show(world, user, id)).status_msg ?? "", /GPU/);
  await setState(world, user, id, "running");
  await host.synced();
  assert.deepEqual(host.order(id)?.gpu_uuids, [host.gpus[1]?.uuid]);
  await host.report(host.obedience(), { gpus: healthOf(host, { 0: LOST }) });
  assert.doesNotMatch((await show(world, user, id)).status_msg ?? "", /GPU/);
});

test("a GPU that recovers goes to the claim that waits for it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 1 }), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await setState(world, user, id, "stopped");
  await host.obey();
  await tell(world, host, { 0: LOST });
  await setState(world, user, id, "running");
  assert.equal((await stored(world, id)).phase, "scheduled");
  await tell(world, host);
  assert.equal((await stored(world, id)).phase, "starting");
});

test("a bid whose GPU is sick is not displaced for a claim that could not use it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const low = await rentAndRun(world, user, host, { size: 1, price: 0.2 });
  const high = await rentAndRun(world, user, host, { size: 1, price: 0.25 });
  await tell(world, host, { 0: LOST });
  await rent(world, await world.caller(), host, { size: 1 });
  assert.deepEqual([(await stored(world, low)).phase, (await stored(world, high)).phase], ["running", "stopping"]);
});

test("a rented GPU that its machine no longer reports is shown as missing, until it is reported again", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { size: 1 });
  await host.disconnect();
  await host.connect({ gpus: host.gpus.slice(1) });
  await host.report(host.obedience());
  await world.settled();
  assert.match((await show(world, user, id)).status_msg, /GPU 0: its machine does not have it now/);
  assert.deepEqual(await searched(world, host), [1]);
  assert.deepEqual(await eventsOf(world, id), ["gpu_unhealthy"]);
  await host.disconnect();
  await host.connect();
  await host.report(host.obedience());
  assert.doesNotMatch((await show(world, user, id)).status_msg, /GPU/);
  assert.deepEqual(await eventsOf(world, id), ["gpu_unhealthy", "gpu_healthy"]);
});

test("load and temperature are shown, and change nothing on the market", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 2 }), await world.caller()];
  const id = await rentAndRun(world, user, host, { size: 2 });
  const usage = { cpu_percent: 400, memory_bytes: 2_000_000_000, disk_bytes: 1_500_000_000, ip_address: "172.18.0.5" };
  const seen = host.obedience().map((one) => ({ ...one, usage }));
  const statements = async () => {
    const { rows } = await world.env.pool.query<{ xmin: string }>(
      "select string_agg(xmin::text, ',' order by id) as xmin from (select id, xmin from devices union all select id, xmin from instances) as rows",
    );
    return rows[0]?.xmin;
  };
  await host.report(seen, { gpus: healthOf(host) });
  const before = await statements();
  world.clock.jump(60_000);
  const warmer = healthOf(host).map((gpu) => ({
    ...gpu,
    utilization_percent: 90,
    temperature_c: 80,
    used_memory_mb: 12_000,
  }));
  await host.report(seen, { gpus: warmer });
  assert.equal(await statements(), before, "neither devices nor instances were written");
  const record = await show(world, user, id);
  assert.deepEqual(
    [
      record.local_ipaddrs,
      record.gpu_util,
      record.gpu_temp,
      record.vmem_usage,
      record.cpu_util,
      record.mem_usage,
      record.disk_usage,
    ],
    ["172.18.0.5", 90, 80, 12 * record.num_gpus, 0.25, 2, 1.5],
  );
  await setState(world, user, id, "stopped");
  await host.obey();
  const stopped = await show(world, user, id);
  assert.deepEqual(
    [stopped.local_ipaddrs, stopped.gpu_util, stopped.vmem_usage, stopped.mem_usage, stopped.disk_usage],
    ["", null, null, null, -1],
  );
});

test("a host reports on its own GPUs only, and in words that can be stored", async (t) => {
  const world = await testApp(t);
  const [honest, liar] = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const uuid = honest.gpus[0]?.uuid ?? "";
  const lie = { uuid, is_healthy: false, reason: "stolen", utilization_percent: null, temperature_c: null };
  const own = { ...lie, uuid: liar.gpus[0]?.uuid ?? "", reason: "\0" };
  const stranger = { ...lie, uuid: "no\0such" };
  await liar.report([], { gpus: [lie, own, stranger] });
  await world.settled();
  assert.deepEqual(await searched(world, honest), [1]);
  assert.deepEqual(await searched(world, liar), []);
  const { rows } = await world.env.pool.query<{ reason: string }>("select reason from device_events");
  assert.deepEqual(rows, [{ reason: "its host gives no reason" }]);
  assert.equal((await askFor(world, await world.caller(), honest)).status, 200);
});

test("the number of sick GPUs is a metric for the operator", async (t) => {
  const world = await testApp(t);
  const [host, admin] = [await world.host({ gpus: 3 }), await aCaller(world.env.database, { isAdmin: true })];
  await tell(world, host, { 0: LOST });
  const answer = await world.call({ url: "/metrics", secret: admin.secret });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /^berth_gpus\{state="healthy"\} 2$/m);
  assert.match(answer.text, /^berth_gpus\{state="sick"\} 1$/m);
  assert.match(answer.text, /^berth_gpu_failures 1$/m);
});

test("the host reads which of its GPUs is out of the market and why, and nobody else does", async (t) => {
  const world = await testApp(t);
  const [owner, other, joiner] = [await world.caller(), await world.caller(), aJoiner()];
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  await host.connect();
  const problems = async (user: TestCaller) => {
    const { body } = await world.call({ url: "/api/v0/hosts/credentials/", secret: user.secret });
    return body.credentials.flatMap((one: { machines: { gpu_problems: string[] }[] }) =>
      one.machines.flatMap((machine) => machine.gpu_problems),
    );
  };
  await tell(world, host, { 1: LOST });
  assert.deepEqual(await problems(owner), [`RTX 4090 1: ${LOST}`]);
  assert.deepEqual(await problems(other), []);
  await tell(world, host);
  assert.deepEqual(await problems(owner), []);
});
