import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWorthStoring, type Fleet } from "./rules/fleet.ts";
import { fleetSeries } from "./rules/series.ts";

const fleetOf = (ready: number, queued: number): Fleet => ({
  ready,
  starting: 0,
  stopping: 0,
  stopped: 0,
  failed: 0,
  readyPerf: ready,
  startingPerf: 0,
  stoppedPerf: 0,
  queued,
  nanosPerHour: BigInt(ready),
});

const rows = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 39 }), fc.nat(3), fc.nat(5)), {
    selector: ([at]) => at,
    maxLength: 12,
  })
  .map((all) => all.toSorted(([a], [b]) => a - b));

test("each step shows the last fleet up to its end, and the longest queue within it", () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 10 }), (all, stepS) => {
      const stepOf = (at: number) => Math.floor(at / stepS) * stepS;
      const stored = [...Map.groupBy(all, ([at]) => stepOf(at))].map(([atS, own]) => {
        const [, ready, queued] = own.at(-1) ?? [0, 0, 0];
        return { ...fleetOf(ready, queued), atS, longestQueue: Math.max(...own.map(([, , one]) => one)) };
      });
      const steps = Array.from({ length: Math.ceil(40 / stepS) }, (_, index) => index * stepS);
      const expected = steps.map((step) => {
        const last = all.findLast(([at]) => at < step + stepS);
        if (last === undefined) return undefined;
        const before = all.findLast(([at]) => at < step);
        const within = all.filter(([at]) => at >= step && at < step + stepS);
        return [last[1], Math.max(before?.[2] ?? 0, ...within.map(([, , queued]) => queued))];
      });
      assert.deepEqual(
        fleetSeries(stored, steps).map((fleet) => fleet && [fleet.ready, fleet.queued]),
        expected,
      );
    }),
  );
});

test("a change of workers is stored at once, a change of the queue alone every five seconds, and no change never", () => {
  const last = { fleet: fleetOf(1, 0), atMs: 1_000 };
  assert.equal(isWorthStoring(fleetOf(1, 0), undefined, 1_000), true);
  assert.equal(isWorthStoring(fleetOf(2, 0), last, 1_001), true);
  assert.equal(isWorthStoring(fleetOf(1, 4), last, 5_999), false);
  assert.equal(isWorthStoring(fleetOf(1, 4), last, 6_000), true);
  assert.equal(isWorthStoring(fleetOf(1, 0), last, 1_000_000), false);
});
