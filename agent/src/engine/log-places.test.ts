import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import "../../../test/support/seed.ts";
import { LogPlaces, parseLogPlace } from "./log-places.ts";

const times = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 30 });

/** The pieces of a log that are new to a reader who comes with this place, and whether it is told of a gap. */
function readOn(log: readonly number[], place: string) {
  const places = new LogPlaces(parseLogPlace(place));
  const counted = log.map((at, index) => ({ index, ...places.take(BigInt(at)) }));
  return {
    fresh: counted.filter(({ isKnown }) => !isKnown).map(({ index, place: its }) => ({ index, place: its })),
    hasGap: counted.some(({ isBehindGap }) => isBehindGap),
  };
}

test("a reader who resumes at any place gets what came behind it once, however times repeat or run back", () => {
  fc.assert(
    fc.property(times, fc.nat(29), (log, at) => {
      const places = new LogPlaces();
      const all = log.map((time, index) => ({ index, place: places.take(BigInt(time)).place }));
      const last = all[at % all.length];
      assert.ok(last);
      const latest = BigInt(last.place.split("-")[0] ?? "");
      // The engine leaves out what is before the first piece of that time or later.
      const from = log.findIndex((time) => BigInt(time) >= latest);
      const { fresh, hasGap } = readOn(log.slice(from), last.place);
      assert.equal(hasGap, false);
      assert.deepEqual(
        fresh.map(({ index, place }) => ({ index: index + from, place })),
        all.slice(last.index + 1),
      );
      assert.deepEqual(
        readOn(log, last.place).fresh.map(({ index }) => index),
        fresh.map(({ index }) => index + from),
      );
    }),
  );
});

test("a place that the log does not have any more is a gap, and everything behind it comes", () => {
  assert.deepEqual(readOn([7, 8], "5-2"), {
    fresh: [
      { index: 0, place: "7-0" },
      { index: 1, place: "8-0" },
    ],
    hasGap: true,
  });
});

test("an engine that left out a late piece makes no later piece a known one", () => {
  // Before: times 6, 5, 7. The piece of time 5 is left out when the log is read from time 6.
  assert.deepEqual(readOn([6, 7], "6-1").fresh, [{ index: 1, place: "7-0" }]);
});
