import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { askFor, destroy, rent, rentAndRun, setState, show, stored } from "../../../../../test/support/rentals.ts";
import type { UserId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { listLocalSpace } from "../../supply/volumes/local/service.ts";
import { listNetworkDisk } from "../../supply/volumes/network/service.ts";
import { insertNetworkDisk, upsertNetworkDiskMount } from "../../supply/volumes/network/store.ts";

const GB = 1_000_000_000;

async function aWorld(t: TestContext) {
  const world = await testApp(t);
  return { world, host: await world.host({ gpus: 8 }), user: await world.caller() };
}

async function ownerOf({ env }: TestApp, host: FakeHost): Promise<UserId> {
  const { rows } = await env.pool.query<{ host_id: UserId }>("select host_id from machines where id = $1", [
    host.machineId,
  ]);
  assert.ok(rows[0]);
  return rows[0].host_id;
}

async function localOffer(world: TestApp, host: FakeHost): Promise<number> {
  const owner = await ownerOf(world, host);
  const request = { machine: host.machineId, size: 100 };
  const [listed] = await withTransaction(world.env.database, world.clock, (tx) => listLocalSpace(tx, owner, request));
  return listed?.offerId ?? 0;
}

async function rentVolume(world: TestApp, user: TestCaller, path: string, id: number, size = 10): Promise<number> {
  const answer = await world.call({ method: "PUT", url: path, secret: user.secret, body: { id, size } });
  assert.equal(answer.status, 200, answer.text);
  await world.settled();
  return Number(answer.body.id);
}

async function localVolume(world: TestApp, user: TestCaller, host: FakeHost): Promise<number> {
  return rentVolume(world, user, "/api/v0/volumes/", await localOffer(world, host));
}

/** A volume on a disk that these hosts share. */
async function networkVolume(world: TestApp, user: TestCaller, hosts: readonly FakeHost[]): Promise<number> {
  const offerId = await withTransaction(world.env.database, world.clock, async (tx) => {
    const userId = await ownerOf(world, hosts[0] as FakeHost);
    const diskId = await insertNetworkDisk(tx, { userId, sizeBytes: 100n * BigInt(GB) });
    for (const [index, { machineId }] of hosts.entries()) {
      await upsertNetworkDiskMount(tx, { networkDiskId: diskId, machineId, mountPath: `/mnt/shared${index}` });
    }
    return (await listNetworkDisk(tx, userId, { disk_id: diskId })).offerId;
  });
  return rentVolume(world, user, "/api/v0/network_volumes/", offerId);
}

const remove = (world: TestApp, user: TestCaller, id: number) =>
  world.call({ method: "DELETE", url: "/api/v0/volumes/", secret: user.secret, body: { id } });

async function record(world: TestApp, user: TestCaller, id: number) {
  const answer = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
  return (answer.body.volumes as Record<string, unknown>[]).find((volume) => volume["id"] === id);
}

async function freeGb(world: TestApp, user: TestCaller, host: FakeHost): Promise<unknown> {
  await world.settled();
  const call = { method: "POST", url: "/api/v0/volumes/search/", secret: user.secret, body: {} } as const;
  const offers = (await world.call(call)).body.offers as Record<string, unknown>[];
  return offers.find((offer) => offer["machine_id"] === host.machineId)?.["disk_space"];
}

const link = (volumeId: number) => ({ volume_info: { create_new: false, volume_id: volumeId, mount_path: "/data" } });

test("a rented volume is ordered from its host at once, with or without an instance", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await localVolume(world, user, host);
  await host.synced();
  assert.deepEqual(host.desired?.volumes, [
    { volume_id: id, size_bytes: 10 * GB, network_directory: null, state: "present" },
  ]);
  assert.deepEqual(world.complaints, []);
});

test("a deleted volume is gone when its host reports it; until then its space is taken", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await localVolume(world, user, host);
  await host.obey();
  assert.equal(await freeGb(world, user, host), 90);
  await host.disconnect();
  assert.equal((await remove(world, user, id)).status, 200);
  assert.equal(await record(world, user, id), undefined);
  assert.equal((await remove(world, user, id)).status, 404);
  await host.connect();
  await host.synced();
  assert.equal(host.volume(id)?.state, "absent");
  const failed = { volume_id: id, state: "failed", used_bytes: 0, message: "a container still uses the disk" } as const;
  await host.report([], { volumes: [failed] });
  assert.equal(await freeGb(world, user, host), 90, "a failure is no receipt");
  await host.report([], { volumes: host.obedientVolumes() });
  assert.equal(await freeGb(world, user, host), 100);
  await world.settled();
  await host.synced();
  assert.deepEqual(host.desired?.volumes, []);
  assert.deepEqual(world.complaints, []);
});

test("only the volume's host can report it as gone, and only after its deletion", async (t) => {
  const { world, host, user } = await aWorld(t);
  const other = await world.host({ gpus: 1 });
  const id = await localVolume(world, user, host);
  const absent = { volume_id: id, state: "absent", used_bytes: 0, message: "" } as const;
  await host.report([], { volumes: [absent] });
  assert.ok(await record(world, user, id), "its owner has not deleted it");
  assert.equal((await remove(world, user, id)).status, 200);
  await other.report([], { volumes: [absent] });
  assert.equal(await freeGb(world, user, host), 90);
  await host.report([], { volumes: [absent] });
  assert.equal(await freeGb(world, user, host), 100);
});

test("use and problems are shown as the host reported last", async (t) => {
  const { world, host, user } = await aWorld(t);
  const volume_id = await localVolume(world, user, host);
  const instance = await rent(world, user, host, link(volume_id));
  const message = "the host has no room left\0 for another disk";
  await host.report([], { volumes: [{ volume_id, state: "present", used_bytes: 4 * GB, message: "" }] });
  assert.deepEqual((await show(world, user, instance)).volume_info, [
    { id: volume_id, avail_space: 6, total_space: 10 },
  ]);
  await host.report([], { volumes: [{ volume_id, state: "failed", used_bytes: 0, message }] });
  const failed = await record(world, user, volume_id);
  assert.deepEqual([failed?.["used_space"], failed?.["status_msg"]], [4, message.replace("\0", "")]);
  await host.report([], { volumes: [{ volume_id, state: "present", used_bytes: 5 * GB, message: "" }] });
  const present = await record(world, user, volume_id);
  assert.deepEqual([present?.["used_space"], present?.["status_msg"], present?.["status"]], [5, "", "attached"]);
  assert.deepEqual(world.complaints, []);
});

test("a volume is detached from its instance at its end, not when the end is requested", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await localVolume(world, user, host);
  const instance = await rentAndRun(world, user, host, link(id));
  await destroy(world, user, instance);
  const refused = await remove(world, user, id);
  assert.deepEqual([refused.status, refused.body.error], [409, "volume_in_use"]);
  await host.obey();
  assert.equal((await stored(world, instance)).phase, "ended");
  assert.deepEqual((await record(world, user, id))?.["instances"], []);
  assert.equal((await remove(world, user, id)).status, 200);
});

test("a volume has one writer: another instance gets it when the first has certainly stopped", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await localVolume(world, user, host);
  const first = await rentAndRun(world, user, host, link(id));
  const refused = await askFor(world, user, host, link(id));
  assert.deepEqual([refused.status, refused.body.error, refused.body.instance_id], [409, "volume_in_use", first]);
  assert.match(String(refused.body.msg), new RegExp(`Volume ${id} is in use by instance ${first}`));
  const second = await rent(world, user, host, { ...link(id), target_state: "stopped" });
  assert.deepEqual((await record(world, user, id))?.["instances"], [first, second]);
  await setState(world, user, first, "stopped");
  assert.equal((await setState(world, user, second, "running")).status, 409, "it is still stopping");
  await host.obey();
  assert.equal((await setState(world, user, second, "running")).status, 200);
  await host.obey();
  assert.equal((await show(world, user, second)).actual_status, "running");
  assert.equal((await setState(world, user, first, "running")).status, 409);
  assert.equal((await setState(world, user, second, "running")).status, 200, "its own right does not block it");
  await world.assertBooks();
});

test("one of many instances that want one volume at the same time gets it", async (t) => {
  const { world, host, user } = await aWorld(t);
  const id = await localVolume(world, user, host);
  const ids: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    ids.push(await rent(world, user, host, { ...link(id), target_state: "stopped" }));
  }
  const answers = await Promise.all(ids.map((instance) => setState(world, user, instance, "running")));
  assert.deepEqual(
    answers.map((answer) => answer.status).toSorted((a, b) => a - b),
    [200, 409, 409, 409],
  );
  await world.assertBooks();
});

test("a network volume is on the one machine where an instance may write to it, and moves with a stop", async (t) => {
  const { world, host: here, user } = await aWorld(t);
  const there = await world.host({ gpus: 2 });
  const id = await networkVolume(world, user, [here, there]);
  await here.synced();
  assert.deepEqual([here.volume(id), there.volume(id)], [undefined, undefined]);
  const first = await rentAndRun(world, user, here, link(id));
  const onMachine = (network_directory: string) => ({
    volume_id: id,
    size_bytes: 10 * GB,
    network_directory,
    state: "present",
  });
  assert.deepEqual(here.volume(id), onMachine("/mnt/shared0"));
  assert.deepEqual(here.order(first)?.mounts, [{ volume_id: id, mount_path: "/data", size_bytes: 10 * GB }]);
  assert.equal((await askFor(world, user, there, link(id))).status, 409);
  const second = await rent(world, user, there, { ...link(id), target_state: "stopped" });
  await setState(world, user, first, "stopped");
  await here.synced();
  assert.ok(here.volume(id), "its container may still write");
  await here.obey();
  assert.equal(here.volume(id), undefined);
  assert.equal((await setState(world, user, second, "running")).status, 200);
  await there.obey();
  assert.deepEqual(there.volume(id), onMachine("/mnt/shared1"));
  assert.equal((await setState(world, user, first, "running")).status, 409);
  assert.deepEqual(world.complaints, []);
});

test("a network volume is deleted by any machine that mounts its disk, and one without machines at once", async (t) => {
  const { world, host: here, user } = await aWorld(t);
  const there = await world.host({ gpus: 1 });
  const id = await networkVolume(world, user, [here, there]);
  assert.equal((await remove(world, user, id)).status, 200);
  await world.settled();
  await Promise.all([here.synced(), there.synced()]);
  assert.deepEqual([here.volume(id)?.state, there.volume(id)?.state], ["absent", "absent"]);
  await there.report([], { volumes: there.obedientVolumes() });
  await world.settled();
  await Promise.all([here.synced(), there.synced()]);
  assert.deepEqual([here.volume(id), there.volume(id)], [undefined, undefined]);
  const lonely = await networkVolume(world, user, [here]);
  await world.env.pool.query("delete from network_disk_mounts");
  assert.equal((await remove(world, user, lonely)).status, 200);
  const { rows } = await world.env.pool.query("select 1 from volumes where deleted_at is null");
  assert.deepEqual(rows, []);
});
