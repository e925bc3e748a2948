import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededRandom } from "../../../../../agent/src/base/random.ts";
import { nanos } from "../../../base/money.ts";
import { decide } from "../autoscaling/rules/decide.ts";
import type { Situation } from "../autoscaling/rules/types.ts";
import { DEFAULT_PARAMETERS } from "../endpoints/rules/parameters.ts";
import { simulateTraffic } from "./simulate-traffic.ts";
import type { Arrival, TrafficSimulation, WorkerModel } from "./types.ts";

const model: WorkerModel = {
  perf: 100,
  parallelCount: 1,
  firstStartsMs: [120_000],
  warmStartsMs: [20_000],
  priceNanosPerHour: nanos(1_000_000_000n),
  coldPriceNanosPerHour: nanos(10_000_000n),
};
const policy = (situation: Situation) => decide(situation).actions;

/** Arrivals of 50 units at regular times, this many a second. */
function arrivalsAt(
  rate: number,
  { fromS = 0, seconds }: { readonly fromS?: number; readonly seconds: number },
): Arrival[] {
  return Array.from({ length: Math.round(rate * seconds) }, (_, index) => ({
    atMs: fromS * 1_000 + (index * 1_000) / rate,
    load: 50,
  }));
}

function simulate(arrivals: readonly Arrival[], overrides: Partial<TrafficSimulation> = {}) {
  const parameters = { ...DEFAULT_PARAMETERS, minLoad: 1, coldWorkers: 10, maxWorkers: 10 };
  const start = { hotCount: 1, stoppedCount: 9, countedFromMs: 0, intervalMs: 1_000, isWokenByPressure: true };
  return simulateTraffic({ arrivals, parameters, model, policy, ...start, ...overrides });
}

test("a worker does one request after the other, and waits and costs are exact", () => {
  const twice = [0, 0].map((atMs) => ({ atMs, load: 50 }));
  const result = simulate([...twice, { atMs: 3_600_000, load: 50 }], {
    policy: () => [],
    hotCount: 1,
    stoppedCount: 1,
  });
  assert.deepEqual([...result.servedCounts], [1, 1, 1]);
  assert.deepEqual(result.waitMs, { p50: 0, p95: 500, p99: 500, max: 500 });
  assert.equal(result.gpuHours, 1);
  assert.equal(result.costNanos, 1_010_000_000n);
});

test("a worker that does several requests at a time shares its speed among them", () => {
  const result = simulate(
    [0, 0, 0].map((atMs) => ({ atMs, load: 50 })),
    {
      policy: () => [],
      model: { ...model, parallelCount: 2 },
    },
  );
  assert.equal(result.waitMs.max, 1_000);
});

test("steady traffic changes no worker once their number is right", () => {
  const result = simulate(arrivalsAt(8, { seconds: 3_600 }), { countedFromMs: 600_000 });
  assert.equal(result.flapCount, 0);
  assert.equal(result.lateShare, 0);
  const settled = result.timeline.filter(({ atMs }) => atMs >= 600_000).map(({ hotCount }) => hotCount);
  assert.equal(new Set(settled).size, 1);
  assert.ok(settled[0] === 5, `${settled[0]} workers`);
});

test("any steady traffic ends in a stable state, from any initial state", () => {
  const start = fc.record({
    rate: fc.integer({ min: 1, max: 16 }),
    hotCount: fc.integer({ min: 0, max: 6 }),
    stoppedCount: fc.integer({ min: 0, max: 6 }),
    coldMult: fc.constantFrom(1, 2.5),
    minLoad: fc.constantFrom(0, 1, 300),
  });
  fc.assert(
    fc.property(start, ({ rate, hotCount, stoppedCount, coldMult, minLoad }) => {
      const parameters = { ...DEFAULT_PARAMETERS, minLoad, coldMult, coldWorkers: 0, maxWorkers: 30 };
      const { timeline, flapCount } = simulate(arrivalsAt(rate, { seconds: 7_200 }), {
        ...{ parameters, hotCount, stoppedCount, countedFromMs: 5_400_000 },
      });
      const settled = timeline.filter(({ atMs }) => atMs >= 5_400_000);
      assert.equal(flapCount, 0);
      assert.equal(new Set(settled.map(({ hotCount: hot, totalCount }) => `${hot} of ${totalCount}`)).size, 1);
    }),
    { numRuns: 5 },
  );
});

test("traffic that comes and goes is followed up and down, and every request is served once", () => {
  const arrivals = [
    ...arrivalsAt(1, { seconds: 600 }),
    ...arrivalsAt(12, { fromS: 600, seconds: 600 }),
    ...arrivalsAt(1, { fromS: 1_200, seconds: 3_600 }),
  ];
  const result = simulate(arrivals);
  assert.ok(result.servedCounts.every((count) => count === 1));
  const hotAt = (minute: number) => result.timeline[minute]?.hotCount ?? 0;
  assert.ok(hotAt(9) <= 2 && hotAt(18) >= 7 && hotAt(70) <= 2, `${[hotAt(9), hotAt(18), hotAt(70)].join()}`);
  assert.ok(result.workerCountMax <= 10);
});

test("a sleeping endpoint is woken by a request, and rents when it has no worker", () => {
  const parameters = { ...DEFAULT_PARAMETERS, minLoad: 0, coldWorkers: 0, maxWorkers: 5 };
  const warm = simulate([{ atMs: 5_000, load: 50 }], {
    parameters: { ...parameters, coldWorkers: 1 },
    hotCount: 0,
    stoppedCount: 1,
  });
  assert.ok(warm.waitMs.max >= 20_000 && warm.waitMs.max < 21_000, `${warm.waitMs.max}`);
  const bare = simulate([{ atMs: 5_000, load: 50 }], { parameters, hotCount: 0, stoppedCount: 0 });
  assert.ok(bare.waitMs.max >= 120_000 && bare.waitMs.max < 121_000, `${bare.waitMs.max}`);
});

test("the same random traffic gives the same result", () => {
  const random = seededRandom("traffic");
  const arrivals = Array.from({ length: 3_000 }, () => ({ atMs: random() * 900_000, load: 100 * random() }));
  const sorted = arrivals.toSorted((a, b) => a.atMs - b.atMs);
  assert.deepEqual(simulate(sorted), simulate(sorted));
});
