import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { listedHost, prepay } from "../../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun, setState } from "../../../../../../test/support/rentals.ts";

async function read(world: TestApp, by: TestCaller, url: string) {
  const { status, body, text } = await world.call({ url, secret: by.secret });
  assert.equal(status, 200, text);
  return body;
}

const rateOf = (world: TestApp, by: TestCaller) => read(world, by, "/api/v0/users/spend-rate/");

/** A rented volume of this size on a host's machine. */
async function aVolume(world: TestApp, user: TestCaller, host: { machineId: number; owner: TestCaller }, size: number) {
  const ask = async (method: "POST" | "PUT", by: TestCaller, url: string, body: object) => {
    const answer = await world.call({ method, url, secret: by.secret, body });
    assert.equal(answer.status, 200, answer.text);
    await world.settled();
    return answer.body;
  };
  const listing = { machine: host.machineId, size: 100, price_disk: 0.15 };
  await ask("POST", host.owner, "/api/v0/volumes/", listing);
  const search = { machine_id: { eq: host.machineId } };
  const { offers } = await ask("POST", user, "/api/v0/volumes/search/", search);
  return ask("PUT", user, "/api/v0/volumes/", { id: offers[0].id, size });
}

test("the spend rate is what instances and volumes cost now, to the nano-dollar, and nobody else's", async (t) => {
  const world = await testApp(t);
  const [owner, user, stranger] = [await world.caller(), await world.caller(), await world.caller()];
  const { machineId } = await world.host({ owner, gpus: 4 });
  const nothing = {
    success: true,
    gpu_cost_per_hour: 0,
    container_storage_cost_per_hour: 0,
    volume_storage_cost_per_hour: 0,
    has_active_resources: false,
  };
  assert.deepEqual(await rateOf(world, user), nothing);

  const host = await world.host({ gpus: 4 });
  const first = await rentAndRun(world, user, host, { size: 2, disk: 48 });
  await rentAndRun(world, user, host, { disk: 48 });
  await aVolume(world, user, { machineId, owner }, 24);
  const all = { ...nothing, volume_storage_cost_per_hour: 0.005, has_active_resources: true };
  assert.deepEqual(await rateOf(world, user), {
    ...all,
    gpu_cost_per_hour: 0.9,
    container_storage_cost_per_hour: 0.02,
  });

  assert.equal((await setState(world, user, first, "stopped")).status, 200);
  await host.obey();
  assert.deepEqual(await rateOf(world, user), {
    ...all,
    gpu_cost_per_hour: 0.3,
    container_storage_cost_per_hour: 0.02,
  });
  assert.deepEqual(await rateOf(world, stranger), nothing);
});

test("prepaid running time is not in the spend rate, and its instance still counts as active", async (t) => {
  const world = await testApp(t);
  const user = await world.caller({ dollars: 10_000 });
  const host = await listedHost(world, { dollarsPerHour: 1 });
  const id = await rentAndRun(world, user, host);
  assert.equal((await rateOf(world, user)).gpu_cost_per_hour, 1);
  const paid = await prepay(world, user, id, 2000);
  assert.equal(paid.status, 200, paid.text);
  const { gpu_cost_per_hour: rate, has_active_resources: isActive } = await rateOf(world, user);
  assert.deepEqual([rate, isActive], [0, true]);
});

test("the counts are as long as the lists of instances and volumes, and nobody else's", async (t) => {
  const world = await testApp(t);
  const [owner, user, stranger] = [await world.caller(), await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 4 });
  const counts = async (by: TestCaller) => {
    const [{ count }, { data }] = [
      await read(world, by, "/api/v0/instances/count/"),
      await read(world, by, "/api/v1/counts/"),
    ];
    assert.equal(data.total_instances, count);
    const [listed, { volumes }] = [
      await read(world, by, "/api/v0/instances/"),
      await read(world, by, "/api/v0/volumes/"),
    ];
    assert.deepEqual([listed.instances.length, volumes.length], [count, data.total_volumes]);
    return [count, data.total_volumes];
  };
  assert.deepEqual(await counts(user), [0, 0]);
  const [first] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  await aVolume(world, user, { machineId: host.machineId, owner }, 10);
  assert.deepEqual(await counts(user), [2, 1]);
  assert.equal((await destroy(world, user, first)).status, 200);
  assert.deepEqual(await counts(user), [1, 1]);
  assert.deepEqual(await counts(stranger), [0, 0]);
});

test("the switched-off list answers 404 and names the list to use", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const { status, body } = await world.call({ url: "/api/v1/instances/lite/", secret });
  assert.deepEqual(
    [status, body.error, body.msg],
    [404, "switched_off", "This list is switched off. Use GET /api/v1/instances/."],
  );
});
