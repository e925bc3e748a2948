import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine } from "../../../../../test/support/hosts/hosting.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  sentencesOf,
  workersOf,
  type Fleet,
} from "../../../../../test/support/serverless/workers.ts";
import { decide } from "../autoscaling/rules/decide.ts";

const secret = randomBytes(32);
/** Settings that keep three workers at all times. */
const THREE = { endpoint: { cold_workers: 3 }, group: { test_workers: 3, cold_workers: 3 } };

async function aMarket(t: Parameters<typeof testApp>[0], hostCount = 3) {
  const world = await testApp(t, { secret });
  const owner = await world.caller({ dollars: 10_000 });
  const hosts: { readonly host: FakeHost; readonly by: TestCaller }[] = [];
  for (let count = 0; count < hostCount; count += 1) {
    const by = await world.caller();
    hosts.push({ by, host: await world.host({ owner: by, gpus: 1 }) });
  }
  const relist = async (dollars: number) => {
    for (const { host, by } of hosts) {
      const answer = await listMachine(world, by, host.machineId, { price_gpu: dollars, price_disk: 0 });
      assert.equal(answer.status, 200, answer.text);
    }
    await world.settled();
  };
  const autoscaler = anAutoscaler(world, { secret, decide });
  /** Looks at the endpoint after the time for which a search is kept. */
  const look = async (fleet: Fleet, afterMs = 5_000) => {
    world.clock.jump(afterMs);
    await decideNow(autoscaler, fleet);
  };
  return { world, owner, relist, look };
}

async function groupOf(world: TestApp, owner: TestCaller, { groupId }: Fleet) {
  const { body } = await world.call({ method: "GET", url: "/api/v0/workergroups/", secret: owner.secret });
  return body.results.find(({ id }: { readonly id: number }) => id === groupId);
}

const change = (world: TestApp, owner: TestCaller, { groupId }: Fleet, body: object) =>
  world.call({ method: "PUT", url: `/api/v0/workergroups/${groupId}/`, secret: owner.secret, body });

test("a group whose every machine is relisted at $90 an hour rents none, says why, and rents when they cost less", async (t) => {
  const { world, owner, relist, look } = await aMarket(t);
  await relist(0.4);
  const fleet = await aFleet(world, owner, THREE);
  assert.equal((await groupOf(world, owner, fleet)).max_dph, 1.2);
  await relist(90);
  await look(fleet);
  assert.deepEqual(await workersOf(world, fleet), []);
  const said = (await sentencesOf(world, fleet)).at(-1) ?? "";
  const why = `the cheapest matching offer costs $90 an hour, and max_dph of worker group ${fleet.groupId} is $1.2`;
  assert.ok(said.includes(why), said);
  assert.equal(typeof (await groupOf(world, owner, fleet)).waits_for_price_since, "number");
  await relist(0.5);
  await look(fleet);
  assert.equal((await workersOf(world, fleet)).length, 3);
  await look(fleet);
  assert.equal((await groupOf(world, owner, fleet)).waits_for_price_since, undefined);
});

test("the owner of a group that waits ten minutes for a lower price is notified once, with both prices", async (t) => {
  const { world, owner, relist, look } = await aMarket(t);
  await relist(0.4);
  const fleet = await aFleet(world, owner, THREE);
  await relist(90);
  const told = async () => {
    const { rows } = await world.env.pool.query("select message from notices where kind = 'client:workers_too_dear'");
    return rows.map(({ message }) => String(message));
  };
  for (const minutes of [0, 5, 4]) await look(fleet, minutes * 60_000 + 1_000);
  assert.deepEqual(await told(), []);
  for (const minutes of [2, 10, 60]) await look(fleet, minutes * 60_000);
  const [message = "", ...more] = await told();
  assert.deepEqual(more, []);
  assert.match(message, /cheapest matching offer costs \$90 an hour and max_dph of the group is \$1\.2\./);
});

test("the owner sets max_dph, 0 gives it back to the market, and nonsense is refused", async (t) => {
  const { world, owner, relist, look } = await aMarket(t);
  await relist(0.4);
  const fleet = await aFleet(world, owner, { ...THREE, group: { ...THREE.group, max_dph: 0.3 } });
  const shown = async () => {
    const { max_dph: most, is_max_dph_by_owner: isByOwner } = await groupOf(world, owner, fleet);
    return [most, isByOwner];
  };
  assert.deepEqual(await shown(), [0.3, true]);
  await look(fleet);
  assert.deepEqual(await workersOf(world, fleet), []);
  for (const wrong of [-1, "2", 1e9]) {
    const refused = await change(world, owner, fleet, { max_dph: wrong });
    assert.deepEqual([refused.status, refused.body.field], [400, "max_dph"], refused.text);
  }
  assert.equal((await change(world, owner, fleet, { search_params: "num_gpus=1 gpu_ram>=1" })).status, 200);
  assert.deepEqual(await shown(), [0.3, true], "another search does not change what its owner chose");
  assert.equal((await change(world, owner, fleet, { max_dph: 0 })).status, 200);
  assert.deepEqual(await shown(), [1.2, false]);
  await look(fleet);
  assert.equal((await workersOf(world, fleet)).length, 3);
});

test("a maximum by the market follows the group's search, and not later prices for it", async (t) => {
  const { world, owner, relist } = await aMarket(t);
  await relist(0.4);
  const fleet = await aFleet(world, owner, THREE);
  await relist(2);
  assert.equal((await change(world, owner, fleet, { max_workers: 5 })).status, 200);
  assert.equal((await groupOf(world, owner, fleet)).max_dph, 1.2);
  assert.equal((await change(world, owner, fleet, { search_params: "num_gpus=1 gpu_ram>=1" })).status, 200);
  assert.equal((await groupOf(world, owner, fleet)).max_dph, 6);
});

test("the matching offers of fewer than three hosts do not make the market's price", async (t) => {
  const { world, owner, relist, look } = await aMarket(t, 2);
  await relist(90);
  const fleet = await aFleet(world, owner, THREE);
  const { max_dph: most } = await groupOf(world, owner, fleet);
  assert.ok(most > 1.35 && most < 1.4, `three times an RTX 4090's usual $0.45 and a disk, and not ${most}`);
  await look(fleet);
  assert.deepEqual(await workersOf(world, fleet), []);
});

test("a group made before anything matches gets its maximum with the first matching offers, and says so", async (t) => {
  const { world, owner, relist, look } = await aMarket(t);
  await relist(0.4);
  const search = { search_params: "num_gpus=1 gpu_name=H200" };
  const fleet = await aFleet(world, owner, { ...THREE, group: { ...THREE.group, ...search } });
  assert.equal((await groupOf(world, owner, fleet)).max_dph, undefined);
  await look(fleet);
  const by = await world.caller();
  await world.host({ owner: by, gpus: 1, gpuName: "H200" });
  await look(fleet);
  const { max_dph: most } = await groupOf(world, owner, fleet);
  assert.ok(most > 9.9 && most < 10, `three times an H200's usual $3.30 and a disk, and not ${most}`);
  assert.ok(
    (await sentencesOf(world, fleet)).some((sentence) => sentence.includes("3 times the market's usual price")),
  );
});

test("a key with misc alone makes, changes and deletes no worker group and no endpoint", async (t) => {
  const { world, owner, relist } = await aMarket(t, 1);
  await relist(0.4);
  const { endpointId, groupId } = await aFleet(world, owner);
  const made = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret: owner.secret,
    body: { name: "misc", permissions: { api: { misc: {} } } },
  });
  const secretOfMisc = String(made.body.key);
  const image = { launch_args: "--image thief/every-variable" };
  for (const [method, url, body] of [
    ["POST", "/api/v0/workergroups/", { endpoint_id: endpointId, ...image }],
    ["POST", "/api/v0/autojobs/", { endpoint_id: endpointId, ...image }],
    ["PUT", `/api/v0/workergroups/${groupId}/`, image],
    ["PUT", `/api/v0/autojobs/${groupId}/`, image],
    ["DELETE", `/api/v0/workergroups/${groupId}/`, {}],
    ["POST", "/update_workers/", { workergroup_id: groupId }],
    ["POST", "/api/v0/endptjobs/", {}],
    ["PUT", `/api/v0/endptjobs/${endpointId}/`, { max_workers: 100 }],
    ["DELETE", `/api/v0/endptjobs/${endpointId}/`, {}],
  ] as const) {
    const answer = await world.call({ method, url, secret: secretOfMisc, body });
    assert.deepEqual([answer.status, /instance_write/.test(answer.body.msg)], [403, true], `${method} ${url}`);
  }
  const shown = await world.call({ method: "GET", url: "/api/v0/workergroups/", secret: secretOfMisc });
  assert.deepEqual([shown.status, shown.body.results.length], [200, 1]);
});
