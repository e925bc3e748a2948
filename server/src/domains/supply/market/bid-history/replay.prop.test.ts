import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  floorPoints,
  floorStretches,
  knownMs,
  outcomeOf,
  priceLadder,
  type FloorChange,
  type Watch,
} from "./rules/replay.ts";

const END_MS = 40;
const floors = fc.option(fc.bigInt({ min: 1n, max: 6n }), { nil: undefined });
const changes = fc
  .uniqueArray(fc.record({ atMs: fc.integer({ min: -5, max: END_MS }), floorNanos: floors }), {
    selector: ({ atMs }) => atMs,
    maxLength: 12,
  })
  .map((all): readonly FloorChange[] => all.toSorted((a, b) => a.atMs - b.atMs));
const watches = fc
  .uniqueArray(fc.integer({ min: -5, max: END_MS + 5 }), { maxLength: 8 })
  .map((ends): readonly Watch[] => {
    const sorted = ends.toSorted((a, b) => a - b);
    return sorted.flatMap((fromMs, index) => {
      const untilMs = sorted[index + 1];
      return index % 2 === 0 && untilMs !== undefined ? [{ fromMs, untilMs }] : [];
    });
  });
const range = { fromMs: 0, untilMs: END_MS };

/** Looks at each moment by itself: what was the floor, and did anybody watch? */
function floorAt(all: readonly FloorChange[], watched: readonly Watch[], ms: number) {
  const isWatched = watched.some(({ fromMs, untilMs }) => fromMs <= ms && ms < untilMs);
  const last = all.findLast(({ atMs }) => atMs <= ms);
  return isWatched && last !== undefined ? { floorNanos: last.floorNanos } : undefined;
}

test("a bid's past is what a look at each single moment says", () => {
  fc.assert(
    fc.property(changes, watches, fc.bigInt({ min: 0n, max: 7n }), (all, watched, price) => {
      const moments = Array.from({ length: END_MS }, (_, ms) => floorAt(all, watched, ms));
      const runs = moments.map((one) => one?.floorNanos !== undefined && one.floorNanos <= price);
      const stops = runs.filter((isRunning, ms) => !isRunning && moments[ms] !== undefined && runs[ms - 1] === true);
      const stretches = floorStretches(all, watched, range);
      assert.equal(knownMs(stretches), moments.filter((one) => one !== undefined).length);
      assert.deepEqual(outcomeOf(stretches, price), {
        runningMs: runs.filter(Boolean).length,
        interruptions: stops.length,
      });
    }),
  );
});

test("a price between two rungs does what the lower rung does, and a higher price never runs less", () => {
  fc.assert(
    fc.property(changes, watches, fc.bigInt({ min: 0n, max: 7n }), (all, watched, price) => {
      const stretches = floorStretches(all, watched, range);
      const ladder = priceLadder(stretches, 100);
      assert.deepEqual(
        outcomeOf(stretches, price),
        outcomeOf(stretches, ladder.findLast((rung) => rung <= price) ?? 0n),
      );
      const times = ladder.map((rung) => outcomeOf(stretches, rung).runningMs);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      const few = priceLadder(stretches, 3);
      assert.ok(few.length <= 3 && few.every((rung) => ladder.includes(rung)));
      assert.deepEqual([few[0], few.at(-1)], [ladder[0], ladder.at(-1)]);
    }),
  );
});

test("the points of a graph hold the lowest and highest floor of the moments in their step", () => {
  fc.assert(
    fc.property(changes, watches, fc.integer({ min: 1, max: 15 }), (all, watched, stepMs) => {
      const expected = [];
      for (let start = 0; start < END_MS; start += stepMs) {
        const length = Math.min(stepMs, END_MS - start);
        const known = Array.from({ length }, (_, ms) => floorAt(all, watched, start + ms)).filter(
          (one) => one !== undefined,
        );
        const open = known.flatMap(({ floorNanos }) => floorNanos ?? []).toSorted((a, b) => Number(a - b));
        if (known.length === 0) continue;
        const openShare = open.length / known.length;
        expected.push({ atMs: start, lowestNanos: open[0], highestNanos: open.at(-1), openShare });
      }
      assert.deepEqual(floorPoints(floorStretches(all, watched, range), range, stepMs), expected);
    }),
  );
});
