import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NOW_MS } from "../../../../../../test/support/serverless/situations.ts";
import { anticipateLoad } from "./anticipated-load.ts";
import type { LoadSample } from "./types.ts";

const HALF_HOUR_S = 1_800;

/** Requests of 100 units each; the function gives their number for each second before now. */
function samplesOf(countAt: (secondsAgo: number) => number): LoadSample[] {
  return Array.from({ length: HALF_HOUR_S }, (_, index) => HALF_HOUR_S - 1 - index).flatMap((secondsAgo) => {
    const requestCount = countAt(secondsAgo);
    const waits = { waitedCount: 0, waitMsMax: 0 };
    const secondMs = NOW_MS - secondsAgo * 1_000;
    return requestCount === 0 ? [] : [{ secondMs, requestCount, load: 100 * requestCount, ...waits }];
  });
}

function expect(samples: readonly LoadSample[]) {
  const sinceMs = NOW_MS - HALF_HOUR_S * 1_000;
  return anticipateLoad(samples, { nowMs: NOW_MS, sinceMs, startMs: 20_000, workerPerf: 100 });
}

test("even traffic needs the capacity of its mean, and no more", () => {
  const { rise } = expect(samplesOf(() => 8));
  assert.ok(rise >= 800 && rise < 808, `${rise}`);
});

test("bursts that return are expected again between two of them", () => {
  const returning = samplesOf((secondsAgo) => (secondsAgo % 120 >= 60 && secondsAgo % 120 < 90 ? 10 : 4));
  const { rise } = expect(returning);
  assert.ok(rise > 800 && rise <= 1_000, `${rise}`);
});

test("no capacity is kept for a single burst, as it would hardly be used", () => {
  const { rise } = expect(samplesOf((secondsAgo) => (secondsAgo === 900 ? 1_000 : secondsAgo % 10 === 0 ? 1 : 0)));
  assert.ok(rise < 400, `${rise}`);
});

test("short bursts that every request waits out within a second need less than their peak", () => {
  const { rise } = expect(samplesOf((secondsAgo) => (secondsAgo % 4 === 0 ? 8 : 0)));
  assert.ok(rise >= 200 && rise < 600, `${rise}`);
});

test("the same traffic with larger requests never needs less", () => {
  const traffic = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 60, maxLength: 60 });
  fc.assert(
    fc.property(traffic, fc.double({ min: 1, max: 4, noNaN: true }), (counts, factor) => {
      const samples = samplesOf((secondsAgo) => counts[secondsAgo % counts.length] ?? 0);
      const larger = samples.map((sample) => ({ ...sample, load: sample.load * factor }));
      const [asItIs, more] = [expect(samples), expect(larger)];
      assert.ok(more.rise >= asItIs.rise * 0.999, `${more.rise} < ${asItIs.rise}`);
    }),
    { numRuns: 50 },
  );
});
