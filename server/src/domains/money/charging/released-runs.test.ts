import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../test/support/money/charges.ts";
import { HOUR_MS, listedHost } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import { destroy, reboot, rentAndRun, setState, stored } from "../../../../../test/support/rentals.ts";
import { audit } from "../audit/audit-service.ts";

const MINUTE_MS = 60_000;
/** Time within which a host in touch has stopped an instance. */
const STOP_MS = 45_000n;

/** Lets the host run on minute by minute, as if it had no order to stop. */
async function goOn(
  world: TestApp,
  host: FakeHost,
  { id, from, minutes }: { readonly id: number; readonly from: number; readonly minutes: number },
): Promise<void> {
  for (let minute = 1; minute <= minutes; minute += 1) {
    world.clock.jump(MINUTE_MS);
    const bytes = (from + minute) * 1_000_000;
    const counters = { running_ms: (from + minute) * MINUTE_MS, received_bytes: bytes, sent_bytes: bytes };
    const seen = { instance_id: id, generation: 1, state: "running", counters } as const;
    await host.report([{ ...seen, status_msg: String(minute) }]);
  }
}

async function ranMs(world: TestApp, id: number): Promise<bigint> {
  const lines = (await linesOf(world, id)).filter(({ component }) => component === "gpu");
  return lines.reduce((sum, { quantity }) => sum + quantity, 0n);
}

async function problemsOf(world: TestApp): Promise<readonly string[]> {
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: false });
  return checks.flatMap(({ differences }) => differences.map(({ problem }) => problem));
}

const REQUESTS = {
  stop: (world, user, id) => setState(world, user, id, "stopped"),
  destroy,
  reboot,
} as const satisfies Record<string, typeof destroy>;

for (const [name, request] of Object.entries(REQUESTS)) {
  test(`time after a ${name} costs the renter no more than the time of a stop, for any counts of the host`, async (t) => {
    const world = await testApp(t);
    const host = await listedHost(world, { dollarsPerHour: 3 });
    const user = await world.caller();
    const id = await rentAndRun(world, user, host);
    await goOn(world, host, { id, from: 0, minutes: 5 });
    const answer = await request(world, user, id);
    assert.equal(answer.status, 200, answer.text);
    await goOn(world, host, { id, from: 5, minutes: 30 });
    await settleNow(world);
    assert.equal(await ranMs(world, id), 5n * 60_000n + STOP_MS);
    assert.equal((await stored(world, id)).leases, 1, "its device is not free before the host has confirmed");
    assert.deepEqual(await problemsOf(world), []);
    await world.assertBooks();
  });
}

test("traffic that a host counts long after a stop was asked for is not charged to the renter", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await goOn(world, host, { id, from: 0, minutes: 5 });
  await setState(world, user, id, "stopped");
  await goOn(world, host, { id, from: 5, minutes: 5 });
  await settleNow(world);
  const bytesOf = async () =>
    (await linesOf(world, id))
      .filter(({ component }) => component === "bwd")
      .reduce((sum, { quantity }) => sum + quantity, 0n);
  const bytes = await bytesOf();
  world.clock.jump(10 * MINUTE_MS);
  const counters = { running_ms: 30 * MINUTE_MS, received_bytes: 900_000_000_000, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: "much" }]);
  await settleNow(world);
  assert.equal(await bytesOf(), bytes);
});

test("a host that returns only after a stop is paid up to the request plus the time of a stop", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await host.disconnect();
  world.clock.jump(2 * MINUTE_MS);
  await setState(world, user, id, "stopped");
  world.clock.jump(5 * MINUTE_MS);
  await host.connect();
  await host.obey();
  await settleNow(world);
  assert.equal(await ranMs(world, id), 2n * 60_000n + STOP_MS);
  assert.deepEqual(await problemsOf(world), []);
});

test("an evicted renter pays for the eviction notice, and not for a host that ignores its end", async (t) => {
  const noticeMs = 2 * MINUTE_MS;
  const world = await testApp(t, { rules: { noticeMs } });
  const host = await listedHost(world, { dollarsPerHour: 3 }, { gpus: 1 });
  const [bidder, buyer] = [await world.caller(), await world.caller()];
  const id = await rentAndRun(world, bidder, host, { price: 1 });
  await goOn(world, host, { id, from: 0, minutes: 5 });
  const offer = (await world.offersOf(host)).get(1);
  const bought = await world.call({
    method: "PUT",
    url: `/api/v0/asks/${offer}/`,
    secret: buyer.secret,
    body: { image: "busybox" },
  });
  assert.equal(bought.status, 200, bought.text);
  assert.equal((await stored(world, id)).phase, "yielding");
  await goOn(world, host, { id, from: 5, minutes: 30 });
  await settleNow(world);
  assert.equal(await ranMs(world, id), 5n * 60_000n + BigInt(noticeMs) + STOP_MS);
  assert.deepEqual(await problemsOf(world), []);
  await world.assertBooks();
});

test("storage costs nothing after the request to destroy it, however late its host removes it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { disk: 100 });
  await goOn(world, host, { id, from: 0, minutes: 5 });
  await destroy(world, user, id);
  await goOn(world, host, { id, from: 5, minutes: 30 });
  world.clock.jump(9 * HOUR_MS);
  await settleNow(world);
  const stored5 = (await linesOf(world, id)).filter(({ component }) => component === "disk");
  assert.equal(
    stored5.reduce((sum, { quantity }) => sum + quantity, 0n),
    5n * 60_000n,
  );
});

test("an audit names a run whose chargeable time was extended, and a charge line for that time", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 3 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await goOn(world, host, { id, from: 0, minutes: 5 });
  await setState(world, user, id, "stopped");
  const set = (value: string) => world.env.pool.query(`update instance_runs set chargeable_until_at = ${value}`);
  await set("'infinity'");
  assert.deepEqual(await problemsOf(world), [
    "its chargeable time ends at another moment than its end was requested for",
  ]);
  await goOn(world, host, { id, from: 5, minutes: 5 });
  await settleNow(world);
  const end = new Date(world.clock.now().getTime() - 5 * MINUTE_MS + 45_000).toISOString();
  await set(`'${end}'`);
  assert.deepEqual(await problemsOf(world), ["it charges for time after the end that was asked for"]);
});
