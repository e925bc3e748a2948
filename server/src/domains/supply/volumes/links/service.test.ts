import assert from "node:assert/strict";
import { before, test } from "node:test";
import { aUser, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { makeFundedUser } from "../../../../../../test/support/money/ledger.ts";
import { aMachine, anInstanceRow } from "../../../../../../test/support/hosts/machines.ts";
import { testDatabase, type TestDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { attachVolumes, detachVolumes, listMounts, planVolumeLink, type VolumeInfo } from "../for-instances.ts";
import type { OptionLink } from "./service.ts";
import { listLocalSpace, rentLocalVolume, requireVolumeOffer } from "../local/service.ts";
import { createNetworkDisk, listNetworkDisk, mountNetworkDisk, rentNetworkVolume } from "../network/service.ts";
import { deleteVolume } from "../service.ts";

let env: TestDatabase;
let hostId: UserId;
let userId: UserId;
let here: MachineId;
let elsewhere: MachineId;
let offerHere: number;
let offerElsewhere: number;

before(async () => {
  env = await testDatabase();
  userId = await makeFundedUser(env.database, 1_000_000_000n);
  await run(async (tx) => {
    hostId = (await aUser(tx)).id;
    [here, elsewhere] = [await aMachine(tx, hostId), await aMachine(tx, hostId)];
    const listed = await listLocalSpace(tx, hostId, { machine: [here, elsewhere], size: 400 });
    [offerHere = 0, offerElsewhere = 0] = listed.map(({ offerId }) => offerId);
  });
});

const run = <T>(work: (tx: Tx) => Promise<T>) => inTransaction(env.database, work);

function aVolume(tx: Tx, { offerId = offerHere, owner = userId, name }: Options = {}): Promise<VolumeId> {
  return requireVolumeOffer(tx, offerId)
    .then((offer) => rentLocalVolume(tx, offer, { userId: owner, capScopes: [], size: 1, name, fieldPrefix: "" }))
    .then((volume) => volume.id);
}
type Options = { readonly offerId?: number; readonly owner?: UserId; readonly name?: string };

const plan = (tx: Tx, volumeInfo: VolumeInfo | undefined, links: readonly OptionLink[] = [], machineId = here) =>
  planVolumeLink(tx, { userId, capScopes: [], machineId, volumeInfo, links });

test("an existing volume on the machine is linked at the requested path, in normal form", async () => {
  await run(async (tx) => {
    const id = await aVolume(tx);
    const mounts = await plan(tx, { create_new: false, volume_id: id, mount_path: "/mnt//models/" });
    assert.deepEqual(mounts, [{ volume_id: id, mount_path: "/mnt/models", size_bytes: 1_000_000_000 }]);
    assert.deepEqual(
      (await plan(tx, { volume_id: id })).map((mount) => mount.mount_path),
      ["/data"],
    );
  });
});

test("a request without volumes mounts none", async () => {
  assert.deepEqual(await run((tx) => plan(tx, undefined)), []);
});

test("create_new rents from an offer of the same machine, 15 GB by default", async () => {
  await run(async (tx) => {
    const [first] = await plan(tx, { create_new: true, volume_id: offerHere, mount_path: "/a", name: "fresh" });
    assert.equal(first?.size_bytes, 15_000_000_000);
    const [linked] = await plan(tx, undefined, [{ volume: "fresh", mount_path: "/b" }]);
    assert.equal(linked?.volume_id, first?.volume_id);
    const [second] = await plan(tx, { create_new: true, volume_id: offerHere, size: 2 });
    assert.deepEqual([second?.size_bytes, second?.mount_path], [2_000_000_000, "/data"]);
  });
});

test("a failed creation leaves no volume behind", async () => {
  const count = async () => (await env.pool.query("select 1 from volumes")).rowCount;
  const before_ = await count();
  await assert.rejects(
    run(async (tx) => {
      await plan(tx, { create_new: true, volume_id: offerHere });
      throw new Error("the instance could not be made");
    }),
  );
  assert.equal(await count(), before_);
});

const rejects = (volumeInfo: () => VolumeInfo, expected: object) =>
  assert.rejects(
    run((tx) => plan(tx, volumeInfo())),
    expected,
  );

test("an offer or a volume on another machine is a 400, one that does not exist a 404", async () => {
  const volume = await run((tx) => aVolume(tx, { offerId: offerElsewhere }));
  const field = { extra: { field: "volume_info.volume_id" } };
  await rejects(() => ({ create_new: true, volume_id: offerElsewhere }), { kind: "invalid", ...field });
  await rejects(() => ({ volume_id: volume }), { kind: "invalid", ...field });
  await rejects(() => ({ create_new: true, volume_id: 2_000_000_000 }), { kind: "not_found" });
  await rejects(() => ({ volume_id: 2_000_000_000 }), { kind: "not_found", code: "no_such_volume" });
});

test("another user's volume looks like one that does not exist", async () => {
  const stranger = await makeFundedUser(env.database, 1_000_000_000n);
  const id = await run((tx) => aVolume(tx, { owner: stranger }));
  await rejects(() => ({ volume_id: id }), { kind: "not_found", code: "no_such_volume" });
});

test("sizes, names and paths of a new volume are named as the request spells them", async () => {
  const info = { create_new: true, volume_id: offerHere };
  await rejects(() => ({ ...info, size: 401 }), { extra: { field: "volume_info.size" } });
  await rejects(() => ({ ...info, size: 0 }), { extra: { field: "volume_info.size" } });
  await rejects(() => ({ ...info, name: "a b" }), { extra: { field: "volume_info.name" } });
  await rejects(() => ({ ...info, mount_path: "/proc/x" }), { extra: { field: "volume_info.mount_path" } });
});

test("options name volumes by id or by name; a name of several is ambiguous", async () => {
  await run(async (tx) => {
    const [byId, byName] = [await aVolume(tx), await aVolume(tx, { name: "weights" })];
    await aVolume(tx, { name: "weights", offerId: offerElsewhere });
    const mounts = await plan(tx, undefined, [
      { volume: String(byId), mount_path: "/x" },
      { volume: "weights", mount_path: "/y" },
    ]);
    assert.deepEqual(
      mounts.map((mount) => [mount.volume_id, mount.mount_path]),
      [
        [byId, "/x"],
        [byName, "/y"],
      ],
    );
  });
  await run(async (tx) => {
    await aVolume(tx, { name: "twin" });
    await aVolume(tx, { name: "twin" });
  });
  const link = (volume: string) => run((tx) => plan(tx, undefined, [{ volume, mount_path: "/x" }]));
  await assert.rejects(link("twin"), { kind: "invalid", extra: { field: "env" } });
  await assert.rejects(link("nothing"), { kind: "not_found" });
});

test("two volumes at one path, or one volume at two, are refused", async () => {
  const [one, two] = await run(async (tx) => [await aVolume(tx), await aVolume(tx)]);
  const links = (...pairs: readonly (readonly [VolumeId, string])[]) =>
    run((tx) =>
      plan(
        tx,
        undefined,
        pairs.map(([id, path]) => ({ volume: String(id), mount_path: path })),
      ),
    );
  await assert.rejects(links([one, "/a"], [two, "/a/"]), { kind: "invalid" });
  await assert.rejects(links([one, "/a"], [one, "/b"]), { kind: "invalid" });
});

test("a network volume is reachable where its disk is mounted, and nowhere else", async () => {
  const id = await run(async (tx) => {
    const { diskId } = await createNetworkDisk(tx, { user_id: hostId, size: 100 });
    await mountNetworkDisk(tx, hostId, { machines: [here], mount_point: "/mnt/nfs", disk_id: diskId });
    const { offerId } = await listNetworkDisk(tx, hostId, { disk_id: diskId });
    return (await rentNetworkVolume(tx, { userId, capScopes: [] }, { id: offerId, size: 5 })).id;
  });
  await run(async (tx) => {
    assert.equal((await plan(tx, { volume_id: id })).length, 1);
    await assert.rejects(plan(tx, { volume_id: id }, [], elsewhere), { kind: "invalid" });
  });
});

test("attached volumes are listed per instance, shared ones with each of their instances", async () => {
  await run(async (tx) => {
    const [shared, own] = [await aVolume(tx), await aVolume(tx)];
    const [first, second] = [await anInstanceRow(tx, userId, here), await anInstanceRow(tx, userId, here)];
    const mount = (volume_id: number, mount_path: string) => ({ volume_id, mount_path, size_bytes: 1_000_000_000 });
    await attachVolumes(tx, first, [mount(own, "/b/c"), mount(shared, "/b")]);
    await attachVolumes(tx, second, [mount(shared, "/d")]);
    const mounts = await listMounts(tx.db, [first, second]);
    assert.deepEqual(mounts.get(first), [mount(shared, "/b"), mount(own, "/b/c")]);
    assert.deepEqual(mounts.get(second), [mount(shared, "/d")]);
    await detachVolumes(tx, [first]);
    await detachVolumes(tx, [first]);
    assert.deepEqual([...(await listMounts(tx.db, [first, second])).keys()], [second]);
    await assert.rejects(deleteVolume(tx, userId, shared), { code: "volume_in_use" });
    await deleteVolume(tx, userId, own);
  });
});

test("a volume cannot be deleted while an instance that mounts it is being created", async () => {
  const id = await run((tx) => aVolume(tx));
  const attempts: Promise<unknown>[] = [];
  await run(async (tx) => {
    const mounts = await plan(tx, { volume_id: id });
    attempts.push(run((other) => deleteVolume(other, userId, id)).catch((error: unknown) => error));
    await attachVolumes(tx, await anInstanceRow(tx, userId, here), mounts);
  });
  const [outcome] = await Promise.all(attempts);
  assert.ok(outcome instanceof Error && /attached/.test(outcome.message));
});
