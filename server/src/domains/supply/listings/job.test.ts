import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { settleNow } from "../../../../../test/support/money/charges.ts";
import { prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { machineRecord, ofMachine } from "../../../../../test/support/hosts/hosting.ts";
import { changeBid, destroy, rent, rentAndRun, setState, show, stored } from "../../../../../test/support/rentals.ts";

async function aHost(t: Parameters<typeof testApp>[0], gpus = 2) {
  const world = await testApp(t);
  const owner = await world.caller({ dollars: 0 });
  return { world, owner, host: await world.host({ owner, gpus }), renter: await world.caller() };
}

function setJob(world: TestApp, by: TestCaller, machine: number, body: object = {}) {
  const job = {
    machine,
    price_gpu: 0.1,
    price_inetu: 0,
    price_inetd: 0,
    image: "busybox",
    args: ["sleep", "60"],
    ...body,
  };
  return world.call({ method: "PUT", url: "/api/v0/machines/create_bids/", secret: by.secret, body: job });
}

/** `[phase, image]` of each background instance that is not over, in id order. */
async function background({ env }: TestApp, { machineId }: FakeHost): Promise<readonly (readonly [string, string])[]> {
  const { rows } = await env.pool.query<{ phase: string; image: string }>(
    "select phase, launch ->> 'image' as image from instances where machine_id = $1 and is_background and ended_at is null order by id",
    [machineId],
  );
  return rows.map(({ phase, image }) => [phase, image.replace(/^.*busybox/, "busybox")] as const);
}

const phases = async (world: TestApp, host: FakeHost) =>
  (await background(world, host)).map(([phase]) => phase).toSorted();

test("a default job runs on each idle GPU, for nothing, and hides no offer", async (t) => {
  const { world, owner, host } = await aHost(t);
  const answer = await setJob(world, owner, host.machineId);
  const said = { image: "busybox", args: ["sleep", "60"], price_gpu: 0.1, price_inetu: 0, price_inetd: 0 };
  assert.deepEqual(answer.body, { success: true, machine_id: host.machineId, user_id: owner.id, you_sent: said });
  await host.obey();
  assert.deepEqual(await phases(world, host), ["running", "running"]);
  assert.deepEqual(new Set((await world.offersOf(host)).keys()), new Set([1, 2]));
  world.clock.jump(3_600_000);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await creditOfUser(world, owner), { balance: 0n, held: 0n, available: 0n });
  const record = await machineRecord(world, owner, host);
  assert.deepEqual([record.default_job, record.gpu_occupancy, record.num_renters], [said, "x x", 0]);
  await world.assertBooks();
});

test("any rental evicts it at once, also a bid at the minimum, and it comes back when GPUs are idle", async (t) => {
  const { world, owner, host, renter } = await aHost(t);
  await setJob(world, owner, host.machineId);
  await host.obey();
  const certain = await rent(world, renter, host);
  assert.deepEqual(await phases(world, host), ["running", "stopping"], "only as many as are needed");
  await host.obey();
  assert.equal((await show(world, renter, certain)).actual_status, "running");
  const bid = await rent(world, renter, host, { price: 0.15 });
  await host.obey();
  assert.equal((await show(world, renter, bid)).actual_status, "running");
  assert.deepEqual(await phases(world, host), ["scheduled", "scheduled"]);
  const occupancy: string = (await machineRecord(world, owner, host)).gpu_occupancy;
  assert.deepEqual(occupancy.split(" ").toSorted(), ["D", "I"]);
  await destroy(world, renter, certain);
  await host.obey();
  await host.report([...host.obedience(), { instance_id: certain, generation: 1, state: "absent" }]);
  await host.obey();
  assert.deepEqual(await phases(world, host), ["running", "scheduled"]);
  assert.equal((await stored(world, bid)).phase, "running");
  await world.assertBooks();
});

test("another job replaces it, and it ends when it is removed", async (t) => {
  const { world, owner, host, renter } = await aHost(t);
  await setJob(world, owner, host.machineId);
  await host.obey();
  await setJob(world, owner, host.machineId);
  assert.deepEqual(await phases(world, host), ["running", "running"], "the same again changes nothing");
  await setJob(world, owner, host.machineId, { image: "busybox:other" });
  await host.obey();
  assert.deepEqual(await background(world, host), [
    ["running", "busybox:other"],
    ["running", "busybox:other"],
  ]);
  assert.equal((await ofMachine(world, renter, host, ["DELETE", "defjob/"])).status, 404);
  const removed = await ofMachine(world, owner, host, ["DELETE", "defjob/"]);
  assert.deepEqual(removed.body, { success: true, machine_id: host.machineId, user_id: owner.id });
  await host.obey();
  assert.deepEqual(await background(world, host), []);
  const again = await ofMachine(world, owner, host, ["DELETE", "defjob/"]);
  assert.deepEqual([again.status, again.body.error], [404, "no_such_default_job"]);
  await rentAndRun(world, renter, host, { size: 2 });
});

test("a GPU that was added gets its instance, one that the host destroyed comes back, and repeating changes nothing", async (t) => {
  const { world, owner, host } = await aHost(t, 3);
  await host.disconnect();
  await host.connect({ gpus: host.gpus.slice(0, 1) });
  await setJob(world, owner, host.machineId);
  await host.obey();
  assert.equal((await background(world, host)).length, 1);
  await host.disconnect();
  await host.connect();
  assert.deepEqual(await world.runLoop("keep-default-jobs"), { machines: 1, created: 2, removed: 0 });
  await host.obey();
  assert.deepEqual(await phases(world, host), ["running", "running", "running"]);
  const { body } = await world.call({ url: "/api/v0/instances/", secret: owner.secret });
  await destroy(world, owner, body.instances[0].id);
  await host.obey();
  assert.deepEqual(await world.runLoop("keep-default-jobs"), { machines: 1, created: 1, removed: 0 });
  assert.deepEqual(await world.runLoop("keep-default-jobs"), { machines: 0, created: 0, removed: 0 });
});

test("an impossible job is refused by its field, and another host's machine is not found", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 1);
  for (const [field, value] of [
    ["image", ""],
    ["image", 7],
    ["image", "not an image!"],
    ["args", "sleep"],
    ["args", [1]],
    ["price_gpu", -1],
    ["price_gpu", "NaN"],
    ["price_inetu", 2 ** 53],
    ["price_inetd", -0.001],
    ["machine", 0],
  ] as const) {
    const answer = await setJob(world, owner, host.machineId, { [field]: value });
    const name = String(answer.body.field).split(".")[0];
    assert.deepEqual([answer.status, name], [400, field], `${field} ${String(value)}: ${answer.text}`);
  }
  for (const machine of [host.machineId, 1_000_000]) {
    const answer = await setJob(world, renter, machine);
    assert.deepEqual([answer.status, answer.body.error], [403, "not_authorized"]);
  }
  assert.equal((await machineRecord(world, owner, host)).default_job, null);
});

test("a default job is refused when the disk has no room for it", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 2, facts: { disk_bytes: 7_000_000_000 } });
  const answer = await setJob(world, owner, host.machineId);
  assert.deepEqual([answer.status, answer.body.field], [400, "machine"]);
});

test("on a full disk another job still replaces the one before, once that is gone", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 2, facts: { disk_bytes: 16_000_000_000 } });
  await setJob(world, owner, host.machineId);
  await host.obey();
  assert.equal((await setJob(world, owner, host.machineId, { image: "busybox:other" })).status, 200);
  await host.obey();
  await world.runLoop("keep-default-jobs");
  await host.obey();
  assert.deepEqual(await background(world, host), [
    ["running", "busybox:other"],
    ["running", "busybox:other"],
  ]);
});

test("its host cannot bid with it, nor pay for it, and may stop and start it without credit", async (t) => {
  const { world, owner, host } = await aHost(t, 1);
  await setJob(world, owner, host.machineId);
  await host.obey();
  const { body } = await world.call({ url: "/api/v0/instances/", secret: owner.secret });
  const { id } = body.instances[0];
  for (const price of [0.5, null]) {
    const answer = await changeBid(world, owner, id, price);
    assert.deepEqual([answer.status, answer.body.field], [400, "id"], answer.text);
  }
  assert.equal((await prepay(world, owner, id, 1)).status, 400);
  await setState(world, owner, id, "stopped");
  await host.obey();
  const started = await setState(world, owner, id, "running");
  assert.equal(started.status, 200, started.text);
  await host.obey();
  assert.deepEqual(await creditOfUser(world, owner), { balance: 0n, held: 0n, available: 0n });
  await world.assertBooks();
});
