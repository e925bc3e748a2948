import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import { aMeasurement, tell } from "../../../../../test/support/hosts/measuring.ts";
import { rentAndRun } from "../../../../../test/support/rentals.ts";

const MINUTE_MS = 60_000;
const GIB = 2 ** 30;

async function read(world: TestApp, path: string, { secret }: TestCaller) {
  const answer = await world.call({ url: path, secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Moves the clock to the beginning of a quarter of an hour. */
function toQuarter({ clock }: TestApp): void {
  clock.jump(15 * MINUTE_MS - (clock.now().getTime() % (15 * MINUTE_MS)));
}

/** The host measures `count` times, every ten seconds; load and memory grow by one and by a GiB with each. */
async function measure(world: TestApp, host: FakeHost, ids: readonly number[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const use = { cpu_percent: 100, memory_bytes: (index + 1) * GIB };
    const instances = Object.fromEntries(ids.map((id) => [id, { ...use, received_bytes_per_s: 1000 }]));
    const gpus = host.gpus.map(() => ({ utilization_percent: index, used_memory_mb: 1024, power_w: 300 }));
    await tell(host, aMeasurement(host, { machine: use, gpus, instances }));
    await world.runLoop("store-measurements");
    world.clock.jump(10_000);
  }
}

test("an owner reads what an instance used before and after it is rolled up, with gaps as nulls", async (t) => {
  const world = await testApp(t);
  const [owner, renter, other] = [await world.caller(), await world.caller(), await world.caller()];
  const host = await world.host({ owner, gpus: 2, facts: { cpu_cores: 8 } });
  const id = await rentAndRun(world, renter, host);
  toQuarter(world);
  const fromS = world.clock.now().getTime() / 1000;
  await measure(world, host, [id], 12);
  // The host is away for a minute.
  world.clock.jump(MINUTE_MS);
  await measure(world, host, [id], 6);
  const path = `/api/v0/instances/${id}/measurements/`;
  const asked = `${path}?from=${fromS}&to=${fromS + 240}`;

  const fine = await read(world, asked, renter);
  assert.equal(fine.resolution_seconds, 10);
  assert.deepEqual([fine.from, fine.to, fine.times.length], [fromS, fromS + 240, 24]);
  assert.deepEqual(fine.series.gpu_util, [
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    ...[null, null, null, null, null, null],
    ...[0, 1, 2, 3, 4, 5],
  ]);
  assert.equal(fine.series.gpu_memory_bytes[0], GIB);
  assert.equal(fine.series.cpu_util[0], 0.25, "one of the four processors that come with one of two GPUs");
  assert.deepEqual(new Set(fine.series.disk_bytes), new Set([null]), "nobody measured it");
  assert.deepEqual(fine.gpus, [], "it has one GPU");

  const minutes = await read(world, `${asked}&resolution=60`, renter);
  assert.deepEqual(minutes.series.gpu_util, [2.5, 8.5, null, 2.5]);
  assert.deepEqual(minutes.maxima.gpu_util, [5, 11, null, 5]);
  assert.deepEqual(minutes.series.memory_bytes, [3.5 * GIB, 9.5 * GIB, null, 3.5 * GIB]);

  world.clock.jump(15 * MINUTE_MS);
  assert.deepEqual(await world.runLoop("roll-up-measurements"), { machines: 1, blocks: 6 });
  assert.deepEqual(await world.runLoop("roll-up-measurements"), { machines: 0, blocks: 0 });
  assert.deepEqual(await read(world, asked, renter), fine);
  assert.deepEqual(await read(world, `${asked}&resolution=60`, renter), minutes);
  const quarter = await read(world, `${path}?from=${fromS}&to=${fromS + 900}&resolution=900`, renter);
  assert.deepEqual([quarter.series.gpu_util, quarter.maxima.gpu_util], [[4.5], [11]]);

  const machine = await read(world, `/api/v0/machines/${host.machineId}/measurements/?from=${fromS}`, owner);
  assert.deepEqual(
    machine.gpus.map((gpu: { index: number }) => gpu.index),
    [0, 1],
  );
  assert.equal(machine.series.gpu_power_watts[0], 600);
  assert.equal(JSON.stringify(machine).includes(`"id":`), false, "a host does not learn whose use it is");

  for (const [url, who, status, code] of [
    [path, other, 404, "no_such_instance"],
    [path, owner, 404, "no_such_instance"],
    [`/api/v0/machines/${host.machineId}/measurements/`, renter, 403, "not_authorized"],
    [`${path}?from=yesterday`, renter, 400, "invalid_args"],
    [`${path}?to=NaN`, renter, 400, "invalid_args"],
    [`${path}?from=20&to=10`, renter, 400, "invalid_args"],
    [`${path}?from=9999999999`, renter, 400, "invalid_args"],
    [`${path}?resolution=0`, renter, 400, "invalid_args"],
    [`${path}?resolution=1e9`, renter, 400, "invalid_args"],
    ["/api/v0/instances/measurements/latest/?ids=x", renter, 400, "invalid_args"],
  ] as const) {
    const answer = await world.call({ url, secret: who.secret });
    assert.deepEqual([answer.status, answer.body.error], [status, code], `${url}: ${answer.text}`);
  }
});
