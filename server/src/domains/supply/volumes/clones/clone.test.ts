import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor } from "../../../../../../test/support/rentals.ts";

const GB = 1_000_000_000;
const HOUR_MS = 3_600_000;

/** Two machines with space for rent, and a renter with a volume of 10 GB on the first, of which 1 GB is in use. */
async function aWorld(t: TestContext) {
  const world = await testApp(t);
  const [owner, user, stranger] = [await world.caller(), await world.caller(), await world.caller()];
  const [here, there] = [await world.host({ owner }), await world.host({ owner })];
  const call = (method: "POST" | "PUT" | "DELETE", body: object, as: TestCaller = user, path = "") =>
    world.call({ method, url: `/api/v0/volumes/${path}`, secret: as.secret, body });
  const list = async (host: FakeHost, size = 40) => {
    const answer = await call("POST", { machine: host.machineId, size }, owner);
    return Number(/\d+/.exec(String(answer.body.msg))?.[0]);
  };
  const offers = { here: await list(here), there: await list(there) };
  const rented = await call("PUT", { id: offers.here, size: 10, name: "models" });
  assert.equal(rented.status, 200, rented.text);
  const source = Number(rented.body.id);
  await here.synced();
  await here.report([], { volumes: [{ volume_id: source, state: "present", used_bytes: GB, message: "" }] });
  return {
    ...{ world, owner, user, stranger, here, there, offers, source, call, list },
    clone: (body: object = {}, as = user) =>
      call("POST", { src_id: source, dst_id: offers.there, ...body }, as, "copy/"),
    async shown(id: number) {
      const answer = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
      const row = (answer.body.volumes as Record<string, unknown>[]).find((volume) => volume["id"] === id);
      return row && [row["status"], row["status_msg"]];
    },
  };
}

test("a clone on another machine takes space there, is filled by both hosts, and is then a volume like any other", async (t) => {
  const { world, user, here, there, source, clone, shown } = await aWorld(t);
  const answer = await clone();
  assert.equal(answer.status, 200, answer.text);
  const id = Number(answer.body.id);
  assert.match(answer.body.msg, new RegExp(`^Cloning V\\.${source} to V\\.${id}: `));
  assert.equal(answer.body.volume_name, `V.${id}`);
  assert.deepEqual(await shown(id), ["cloning 0 %", "waiting for the hosts"]);
  const [[sending], [receiving]] = [await here.tasks(1), await there.tasks(1)];
  assert.ok(sending?.action.type === "send" && receiving?.action.type === "receive");
  assert.equal(sending.action.transfer_id, receiving.action.transfer_id);
  assert.deepEqual(receiving.action.destination, { kind: "volume", id, path: "/" });
  assert.deepEqual([receiving.action.is_fresh, receiving.action.is_compressed], [true, true]);
  await there.synced();
  assert.equal(there.volume(id)?.size_bytes, 10 * GB);
  await there.progress(receiving.task_id, "copying: 450 MB, 100 MB/s", 450_000_000);
  assert.deepEqual(await shown(id), ["cloning 45 %", "copying: 450 MB, 100 MB/s"]);
  await there.progress(receiving.task_id, "copying: 1200 MB, 100 MB/s", 1_200_000_000);
  assert.equal((await shown(id))?.[0], "cloning 99 %", "the rest is what it turns out to be");

  const link = { volume_info: { create_new: false, volume_id: id, mount_path: "/data" } };
  const early = await askFor(world, user, there, link);
  assert.deepEqual([early.status, early.body.field], [400, "volume_info.volume_id"]);
  assert.match(early.body.msg, /is being cloned/);
  await there.answer(receiving.task_id, "done");
  assert.deepEqual(await shown(id), ["available", ""]);
  assert.equal((await askFor(world, user, there, link)).status, 200);
  await here.answer(sending.task_id, "the other host is done with it", { is_success: false });
  assert.deepEqual(await shown(id), ["attached", ""]);
  assert.deepEqual(world.complaints, []);
});

test("a clone on the same machine is a copy there, uncompressed or not", async (t) => {
  const { here, offers, source, clone, shown } = await aWorld(t);
  const id = Number((await clone({ dst_id: offers.here, size: 12.5, disable_compression: true })).body.id);
  const [task] = await here.tasks(1);
  assert.deepEqual(task?.action, {
    type: "copy",
    source: { kind: "volume", id: source, path: "/" },
    destination: { kind: "volume", id, path: "/" },
    is_fresh: true,
  });
  await here.answer(task.task_id, "done");
  assert.deepEqual(await shown(id), ["available", ""]);
  await here.synced();
  assert.equal(here.volume(id)?.size_bytes, 12.5 * GB);
});

test("a failed clone shows the reason, cannot be used, and can be deleted", async (t) => {
  const { world, user, there, clone, call, shown } = await aWorld(t);
  const id = Number((await clone({ disable_compression: true })).body.id);
  const [task] = await there.tasks(1);
  assert.ok(task?.action.type === "receive" && !task.action.is_compressed);
  await there.answer(task.task_id, "tar: write error:\n No space left on device.", { is_success: false });
  const [status, message] = (await shown(id)) ?? [];
  assert.equal(status, "clone failed");
  assert.match(String(message), /^Cloning V\.\d+ failed: tar: write error: No space left on device\. Delete/);
  const link = { volume_info: { create_new: false, volume_id: id } };
  const refused = await askFor(world, user, there, link);
  assert.deepEqual([refused.status, refused.body.field], [400, "volume_info.volume_id"]);
  const again = await clone({ src_id: id });
  assert.deepEqual([again.status, again.body.field], [400, "src_id"]);
  assert.equal((await call("DELETE", { id })).status, 200);
  assert.equal(await shown(id), undefined);
});

test("a clone that does not finish within a day has failed, and deleting it cancels it", async (t) => {
  const { world, here, there, source, clone, call, shown } = await aWorld(t);
  const [first, second] = [Number((await clone()).body.id), Number((await clone()).body.id)];
  const busy = await call("DELETE", { id: source });
  assert.deepEqual([busy.status, busy.body.error], [409, "volume_in_use"]);
  assert.match(busy.body.msg, new RegExp(`is being cloned to volume ${first}`));
  // A clone that is cancelled before a host has heard of it is never ordered.
  const asked = await Promise.all([here, there].map(async (host) => ({ host, halves: await host.tasks(2) })));
  assert.equal((await call("DELETE", { id: first })).status, 200);
  for (const { host, halves } of asked) {
    const called = halves.find(({ action }) => "destination" in action && action.destination.id === first);
    assert.deepEqual(await host.cancelled(), [called?.task_id]);
  }
  world.clock.jump(24 * HOUR_MS);
  assert.equal((await shown(second))?.[0], "clone failed");
  assert.equal((await call("DELETE", { id: source })).status, 200);
});

test("an impossible clone is refused with the field's name, and nothing is rented for it", async (t) => {
  const { world, stranger, here, there, clone, list } = await aWorld(t);
  const foreign = await clone({}, stranger);
  assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_volume"]);
  for (const [body, status, error, field] of [
    [{ src_id: 2_000_000_000 }, 404, "no_such_volume", undefined],
    [{ dst_id: 2_000_000_000 }, 404, "no_such_volume_offer", undefined],
    [{ src_id: "x" }, 400, "invalid_args", "src_id"],
    [{ dst_id: undefined }, 400, "invalid_args", "dst_id"],
    [{ size: 9.9 }, 400, "invalid_args", "size"],
    [{ size: 40.1 }, 400, "invalid_args", "size"],
    [{ size: -1 }, 400, "invalid_args", "size"],
    [{ size: 1e300 }, 400, "invalid_args", "size"],
  ] as const) {
    const answer = await clone(body);
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [status, error, field], answer.text);
  }
  await list(there, 5);
  const small = await clone();
  assert.deepEqual([small.status, small.body.field], [400, "size"], "the source is larger than what is offered");
  await list(there, 40);
  await here.disconnect();
  assert.equal((await clone()).body.error, "host_offline");
  assert.equal((await there.tasks(0)).length, 0);
  const { rows } = await world.env.pool.query("select count(*)::int as count from volumes");
  assert.equal(rows[0].count, 1);
});

test("a volume is deleted two days after its end unless something uses it, and its end can be moved until then", async (t) => {
  const { world, user, owner, there, offers, call } = await aWorld(t);
  const endOf = (volume: Record<string, unknown> | undefined) => [volume?.["end_date"], volume?.["deletes_at"]];
  const volumes = async () => {
    const answer = await world.call({ url: "/api/v0/volumes/", secret: user.secret });
    return answer.body.volumes as Record<string, unknown>[];
  };
  const loop = async () => world.runLoop("delete-ended-volumes");
  const used = Number((await call("PUT", { id: offers.there, size: 5 })).body.id);
  const kept = Number((await call("PUT", { id: offers.there, size: 5 })).body.id);
  const link = { volume_info: { create_new: false, volume_id: used } };
  assert.equal((await askFor(world, user, there, link)).status, 200);
  const endAt = Number((await volumes())[0]?.["end_date"]);
  assert.deepEqual(endOf((await volumes())[0]), [endAt, endAt + 48 * 3600]);
  assert.deepEqual(endOf((await volumes())[1]), [endAt, null], "one that is in use is kept");
  world.clock.jump((endAt + 47 * 3600) * 1000 - world.clock.now().getTime());
  assert.deepEqual(await loop(), { deleted: 0 });
  // With a later end at the same price, the listing and its volumes go on.
  const later = endAt + 90 * 86_400;
  const longer = { machine: there.machineId, end_date: later };
  assert.equal((await call("POST", longer, owner)).status, 200);
  world.clock.jump(2 * HOUR_MS);
  assert.deepEqual(await loop(), { deleted: 1 });
  assert.deepEqual(await loop(), { deleted: 0 });
  assert.deepEqual(
    (await volumes()).map((volume) => [volume["id"], ...endOf(volume)]),
    [
      [used, later, null],
      [kept, later, later + 48 * 3600],
    ],
  );
});
