import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { rent } from "../../../../../../test/support/rentals.ts";

const GB = 1_000_000_000;

/** A machine of 100 GB with one GPU, whose owner lists space of it, and a renter's view of both. */
async function aWorld(t: TestContext) {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 1, facts: { disk_bytes: 100 * GB } });
  const user = await world.caller();
  const asOwner = async (url: string, body: object) => {
    const answer = await world.call({ method: "POST", url, secret: owner.secret, body });
    assert.equal(answer.status, 200, answer.text);
    await world.settled();
    return String(answer.body.msg);
  };
  const list = async (body: object) =>
    Number(/\d+/.exec(await asOwner("/api/v0/volumes/", { machine: host.machineId, ...body }))?.[0]);
  const search = async (url: string, body: object) => {
    const answer = await world.call({ method: "POST", url, secret: user.secret, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.offers as readonly Record<string, unknown>[];
  };
  return {
    ...{ world, host, user, asOwner, list },
    spaces: (body: object = {}) => search("/api/v0/volumes/search/", body),
    /** Disk and volume fields of the GPU's offer: its share, and listing, size and price per hour of the space. */
    async onGpuOffer() {
      const [offer] = await search("/api/v0/bundles/", {});
      assert.ok(offer);
      return [offer["disk_space"], offer["avail_vol_ask_id"], offer["avail_vol_size"], offer["avail_vol_dph"]];
    },
    async rentVolume(id: number, size: number) {
      const call = { method: "PUT", url: "/api/v0/volumes/", secret: user.secret, body: { id, size } } as const;
      const answer = await world.call(call);
      await world.settled();
      return answer;
    },
  };
}

test("the space that offers show follows every change of it", async (t) => {
  const { world, host, user, asOwner, list, spaces, onGpuOffer, rentVolume } = await aWorld(t);
  const shown = async () => (await spaces())[0]?.["disk_space"];
  assert.deepEqual([await onGpuOffer(), await shown()], [[100, null, null, null], undefined]);
  const id = await list({ size: 72, price_disk: 0.1 });
  assert.deepEqual([await onGpuOffer(), await shown()], [[100, id, 72, 0.01], 72]);
  assert.equal((await rentVolume(id, 36)).status, 200);
  assert.deepEqual([await onGpuOffer(), await shown()], [[64, id, 36, 0.005], 36]);
  const dearer = await list({ price_disk: 0.2 });
  assert.notEqual(dearer, id, "a dearer listing has an id of its own");
  assert.deepEqual(await onGpuOffer(), [64, dearer, 36, 0.01]);
  await rent(world, user, host, { disk: 50 });
  await world.settled();
  assert.equal(await shown(), 14);
  const refused = await rentVolume(dearer, 15);
  assert.deepEqual([refused.status, refused.body.msg], [400, "size: 15 GB are wanted, 14 GB are free"]);
  assert.equal((await rentVolume(dearer, 14)).status, 200);
  assert.equal(await shown(), undefined);
  await asOwner("/api/v0/volumes/unlist/", { id: dearer });
  assert.equal((await rentVolume(dearer, 1)).status, 404);
});

test("space of a machine that is away, or past its listing's end, is not offered", async (t) => {
  const { world, host, list, spaces, onGpuOffer } = await aWorld(t);
  const id = await list({ size: 10, end_date: Math.floor(world.clock.now().getTime() / 1000) + 3600 });
  assert.equal((await spaces())[0]?.["duration"], 3600);
  await host.disconnect();
  await world.settled();
  assert.deepEqual(await spaces(), []);
  await host.connect();
  await world.settled();
  assert.equal((await spaces())[0]?.["id"], id);
  world.clock.jump(3_600_000);
  assert.deepEqual(await spaces(), []);
  assert.equal((await onGpuOffer())[1], id, "nobody has looked since");
  await world.runLoop("end-volume-listings");
  await world.settled();
  assert.deepEqual((await onGpuOffer()).slice(1), [null, null, null]);
});

test("reliability, verification and place are those of the machine", async (t) => {
  const { world, host, list, spaces } = await aWorld(t);
  await world.env.pool.query(
    "update machines set reliability_ppm = 875000, verification = 'deverified', hosting_type = 1 where id = $1",
    [host.machineId],
  );
  await list({ size: 10 });
  const [row] = await spaces({ reliability: { lte: 0.9 }, datacenter: { eq: true }, verified: { eq: false } });
  assert.deepEqual(
    ["reliability", "reliability2", "reliability_mult", "verification", "vericode", "hosting_type", "gpu_arch"].map(
      (name) => row?.[name],
    ),
    [0.875, 0.875, 0.875, "unverified", 0, 1, "nvidia"],
  );
});

test("a search understands the command line's language, orders and prices as requested, and returns at most 64 rows by default", async (t) => {
  const { list, spaces } = await aWorld(t);
  const id = await list({ size: 72, price_disk: 0.1 });
  const found = async (body: object) => (await spaces(body)).map((row) => row["id"]);
  assert.deepEqual(await found({ q: "disk_space >= 72 duration > 1 ubuntu_version in [22.04,24.04] verified=true" }), [
    id,
  ]);
  assert.deepEqual(await found({ q: "duration > 100" }), [], "days");
  assert.deepEqual(await found({ q: "driver_version >= 535.86.05 cuda_vers>=12" }), [id]);
  assert.deepEqual(await found({ disable_bundling: true, cluster_id: { eq: null }, order: [["cuda_vers", "asc"]] }), [
    id,
  ]);
  const [row] = await spaces({ allocated_storage: 36, storage_total_cost: { eq: 0.005 } });
  assert.equal(row?.["storage_total_cost"], 0.005);
});
