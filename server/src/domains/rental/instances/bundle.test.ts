import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";

test("an instance names the bundle that its offer was shown in, also when the host asks another price later", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 2 });
  const { secret } = await world.caller();
  const searched = await world.call({ method: "POST", url: "/api/v0/bundles/", body: { num_gpus: { eq: 1 } } });
  const [offer] = searched.body.offers;
  assert.ok(Number.isSafeInteger(offer.bundle_id));
  const rented = await world.call({
    ...{ method: "PUT", url: `/api/v0/asks/${offer.id}/`, secret },
    body: { image: "busybox", disk: 10 },
  });
  assert.equal(rented.status, 200);
  const shown = async () =>
    (await world.call({ url: `/api/v0/instances/${rented.body.new_contract}/`, secret })).body.instances.bundle_id;
  assert.equal(await shown(), offer.bundle_id);
  await world.env.pool.query(
    "update machines set price_device_nanos_per_hour = 2 * price_device_nanos_per_hour where id = $1",
    [host.machineId],
  );
  assert.equal(await shown(), offer.bundle_id);
  await world.env.pool.query("update instances set bundle_id = null");
  assert.equal(await shown(), null, "the bundle of an earlier instance is unknown, and no other number stands for it");
});
