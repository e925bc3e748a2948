// The books of a living market: no activity leaves a difference for the audit to find.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import { refreshOffersOf } from "../../../../../test/support/hosts/refresh-offers.ts";
import { destroy, rentAndRun, setState } from "../../../../../test/support/rentals.ts";
import { audit, auditAndCheckpoint } from "./audit-service.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function assertSound(world: TestApp): Promise<void> {
  for (const isFull of [false, true]) {
    const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull });
    assert.deepEqual(
      checks.flatMap(({ name, differences }) => differences.map((difference) => ({ name, ...difference }))),
      [],
    );
  }
}

async function settle(world: TestApp): Promise<void> {
  await world.runLoop("settle-runs");
  await world.runLoop("settle-volumes");
}

/** A host whose storage and traffic have prices as well. */
async function aHost(world: TestApp, gpus: number) {
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus });
  await world.env.pool.query(
    `update machines set price_disk_nanos_per_gb_month = 150000000, price_inet_up_nanos_per_gb = 2000000,
       price_inet_down_nanos_per_gb = 3000000 where id = $1`,
    [host.machineId],
  );
  await refreshOffersOf(world, [host.machineId]);
  return host;
}

/** The numbers of charge lines by component, state and price. */
async function linesIn({ env }: TestApp): Promise<ReadonlyMap<string, number>> {
  const { rows } = await env.pool.query<{ kind: string; count: number }>(
    `select concat_ws(' ', component, state, paid_from, unit_price_nanos / 10000000) as kind, count(*)::integer as count
     from charge_lines group by 1`,
  );
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

test("rents, a stop, a deposit, an outage, a checkpoint and an end leave no difference", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller({ dollars: 500 });
  const host = await aHost(world, 4);
  const plain = await rentAndRun(world, renter, host);
  const reserved = await rentAndRun(world, renter, host);
  await pass(world, host, MINUTE_MS);
  assert.equal((await prepay(world, renter, reserved, 100)).status, 200);
  for (let minute = 0; minute < 20; minute += 1) {
    await pass(world, host, MINUTE_MS);
    await settle(world);
  }
  await assertSound(world);
  await setState(world, renter, plain, "stopped");
  await host.obey();
  await settle(world);
  await assertSound(world);
  await host.disconnect();
  world.clock.jump(2 * HOUR_MS);
  await world.runLoop("release-lost-hosts");
  await host.connect();
  await host.obey();
  await settle(world);
  await pass(world, host, MINUTE_MS);
  await settle(world);
  await assertSound(world);
  world.clock.jump(26 * HOUR_MS);
  await host.obey();
  await settle(world);
  assert.equal((await auditAndCheckpoint({ database: world.env.database, clock: world.clock }))?.isStored, true);
  await destroy(world, renter, reserved);
  await host.obey();
  await pass(world, host, HOUR_MS);
  await settle(world);
  await assertSound(world);
  const kinds = [...(await linesIn(world)).keys()];
  for (const kind of ["gpu running credit 100", "gpu running deposit 100", "disk stopped credit 15"]) {
    assert.ok(kinds.includes(kind), `${kind} was charged: ${kinds.join(", ")}`);
  }
});

test("bids that go up and down, and traffic, leave no difference", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller({ dollars: 500 });
  const host = await aHost(world, 1);
  const id = await rentAndRun(world, renter, host, { price: 0.5 });
  let bytes = 0;
  for (const price of [0.5, 0.7, 0.3, 0.9]) {
    const path = `/api/v0/instances/bid_price/${id}/`;
    const body = { client_id: "me", price };
    assert.equal((await world.call({ method: "PUT", url: path, secret: renter.secret, body })).status, 200);
    for (let minute = 0; minute < 4; minute += 1) {
      world.clock.jump(MINUTE_MS);
      bytes += 50_000_000;
      const seen = host.obedience().map((one) => ({
        ...one,
        counters: { running_ms: one.counters?.running_ms ?? 0, received_bytes: bytes, sent_bytes: 2 * bytes },
      }));
      await host.report(seen);
      if (minute % 3 === 1) await settle(world);
    }
    await assertSound(world);
  }
  world.clock.jump(10 * MINUTE_MS);
  await settle(world);
  await assertSound(world);
  const kinds = [...(await linesIn(world)).keys()];
  for (const kind of [
    "gpu running credit 70",
    "gpu running credit 30",
    "bwu running credit 0",
    "bwd running credit 0",
  ]) {
    assert.ok(kinds.includes(kind), `${kind} was charged: ${kinds.join(", ")}`);
  }
});

test("a deposit that is used up in the middle of a run, and one that is prepaid after it, leave no difference", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller({ dollars: 500 });
  const host = await aHost(world, 1);
  const id = await rentAndRun(world, renter, host);
  await pass(world, host, MINUTE_MS);
  assert.equal((await prepay(world, renter, id, 20)).status, 200);
  await pass(world, host, 40 * HOUR_MS);
  await settle(world);
  await assertSound(world);
  assert.equal((await prepay(world, renter, id, 20)).status, 200);
  await pass(world, host, HOUR_MS);
  await settle(world);
  world.clock.jump(2 * HOUR_MS);
  await destroy(world, renter, id);
  await host.obey();
  await settle(world);
  await assertSound(world);
  const kinds = [...(await linesIn(world)).keys()];
  for (const kind of ["gpu running credit 100", "gpu running deposit 100"]) {
    assert.ok(kinds.includes(kind), `${kind} was charged: ${kinds.join(", ")}`);
  }
});
