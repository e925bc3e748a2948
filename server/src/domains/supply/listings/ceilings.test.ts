import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../test/support/fixtures.ts";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { nanos } from "../../../base/money.ts";
import { setPriceCeilings } from "../hosts/for-assembly.ts";

const LATER_S = 4_000_000_000;

const setCeilings = (world: TestApp, traffic: bigint, storage: bigint) =>
  inTransaction(world.env.database, (tx) =>
    setPriceCeilings(tx, { trafficNanosPerGb: nanos(traffic), storageNanosPerGbMonth: nanos(storage) }),
  );

/** The ids by which a machine and its space are rented. */
async function idsOf({ env }: TestApp, machineId: number) {
  const { rows } = await env.pool.query(
    `select 'machine' as what, id from offers where machine_id = $1 and retired_at is null
     union all select 'space', id from volume_offers where machine_id = $1 and unlisted_at is null order by what, id`,
    [machineId],
  );
  return rows;
}

test("nobody lists traffic or storage above the operator's ceiling, and the refusal names field and ceiling", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner });
  const machine = host.machineId;
  const list = (body: object) =>
    world.call({
      method: "PUT",
      url: "/api/v0/machines/create_asks/",
      secret: owner.secret,
      body: { machine, end_date: LATER_S, ...body },
    });
  for (const [field, price, ceiling] of [
    ["price_inetu", 0.1501, "0.15 dollars per GB, the operator's ceiling for traffic"],
    ["price_inetd", 1000, "0.15 dollars per GB, the operator's ceiling for traffic"],
    ["price_disk", 1.01, "1 dollars per GB and month, the operator's ceiling for storage"],
    ["vol_price", 1000, "1 dollars per GB and month, the operator's ceiling for storage"],
  ] as const) {
    const answer = await list({ [field]: price, ...(field === "vol_price" ? { vol_size: 10 } : {}) });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
    assert.equal(answer.body.msg, `${field} must be at most ${ceiling}`);
  }
  const volumes = await world.call({
    method: "POST",
    url: "/api/v0/volumes/",
    secret: owner.secret,
    body: { machine, size: 10, price_disk: 1000, end_date: LATER_S },
  });
  assert.deepEqual([volumes.status, volumes.body.field], [400, "price_disk"], volumes.text);
  assert.equal(
    (await list({ price_inetu: 0.15, price_inetd: 0.15, price_disk: 1, vol_size: 10, vol_price: 1 })).status,
    200,
  );
  await setCeilings(world, 5_000_000_000n, 1_000_000_000n);
  assert.equal((await list({ price_inetu: 5 })).status, 200, "the operator's setting decides");
});

test("listings above a lowered ceiling are lowered to it, and their hosts are told once", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner });
  const body = {
    machine: host.machineId,
    end_date: LATER_S,
    price_inetu: 0.1,
    price_inetd: 0.02,
    price_disk: 0.8,
    vol_size: 10,
    vol_price: 0.9,
  };
  const listed = await world.call({ method: "PUT", url: "/api/v0/machines/create_asks/", secret: owner.secret, body });
  assert.equal(listed.status, 200, listed.text);
  await world.settled();
  const before = await idsOf(world, host.machineId);
  await setCeilings(world, 50_000_000n, 500_000_000n);
  assert.deepEqual(await world.runLoop("lower-prices"), { machines: 1, disks: 0 });
  await world.settled();
  assert.deepEqual(await world.runLoop("lower-prices"), { machines: 0, disks: 0 });
  assert.deepEqual(await idsOf(world, host.machineId), before, "a lower price breaks no promise, so each id stays");
  const { rows } = await world.env.pool.query(
    `select price_inet_up_nanos_per_gb as up, price_inet_down_nanos_per_gb as down, price_disk_nanos_per_gb_month as disk,
       (select price_nanos_per_gb_month from volume_offers v where v.machine_id = m.id) as volume
     from machines m where id = $1`,
    [host.machineId],
  );
  assert.deepEqual(rows, [{ up: 50_000_000n, down: 20_000_000n, disk: 500_000_000n, volume: 500_000_000n }]);
  await world.settled();
  const notices = await world.env.pool.query(
    "select kind from notices where user_id = $1 and kind = 'host:listing_lowered'",
    [owner.id],
  );
  assert.equal(notices.rowCount, 1);
  const again = await world.call({
    method: "PUT",
    url: "/api/v0/machines/create_asks/",
    secret: owner.secret,
    body: { machine: host.machineId, price_gpu: 0.5 },
  });
  assert.equal(again.status, 200, again.text);
});
