import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nanos } from "../../../base/money.ts";
import { DEFAULT_PARAMETERS } from "../endpoints/rules/parameters.ts";
import { runTrial, startOf, type Trial, type TrialParameters } from "./trial.ts";

const PERF = 100;
const model: Trial["model"] = {
  ...{ perf: PERF, parallelCount: 1, firstStartsMs: [60_000], warmStartsMs: [10_000] },
  ...{ priceNanosPerHour: nanos(1_000_000_000n), coldPriceNanosPerHour: nanos(10_000_000n) },
};

/** Parameters that keep this many workers always running. */
function always(count: number): TrialParameters {
  return { ...DEFAULT_PARAMETERS, minLoad: count * PERF, coldWorkers: count, maxWorkers: count, maxQueueTimeS: 600 };
}

const requests = fc
  .array(fc.record({ afterMs: fc.nat(2_000), load: fc.integer({ min: 1, max: 300 }) }), { minLength: 1, maxLength: 60 })
  .map((gaps) => {
    let atMs = 0;
    return gaps.flatMap(({ afterMs, load }) => [(atMs += afterMs), load]);
  });

function trialOf(numbers: readonly number[], present: TrialParameters, proposed: TrialParameters): Trial {
  const traffic = { kind: "requests", rows: [Float64Array.from(numbers)] } as const;
  const untilMs = numbers.at(-2) ?? 0;
  return { traffic, present, proposed, model, countedFromMs: 0, untilMs, intervalMs: 1_000 };
}

test("with more workers that are always running no request waits longer than by the time of one request", () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 4 }), (numbers, count) => {
      const { present, proposed } = runTrial(trialOf(numbers, always(count), always(count + 1)));
      // The router orders two workers by the requests that they were given, not by their progress.
      const oneMs = (1_000 * Math.max(...numbers.filter((_, index) => index % 2 === 1))) / PERF;
      for (const share of ["p50", "p95", "p99", "max"] as const) {
        assert.ok(proposed.waitMs[share] <= present.waitMs[share] + oneMs, `${share}: ${proposed.waitMs[share]}`);
      }
      assert.deepEqual([present.unservedCount, proposed.unservedCount], [0, 0]);
      assert.ok(proposed.costNanos >= present.costNanos);
    }),
    { numRuns: 50 },
  );
});

test("with a running worker for each request none waits", () => {
  fc.assert(
    fc.property(requests, (numbers) => {
      const { present } = runTrial(trialOf(numbers, always(numbers.length / 2), always(1)));
      assert.deepEqual(present.waitMs, { p50: 0, p95: 0, p99: 0, max: 0 });
    }),
    { numRuns: 20 },
  );
});

test("the same trial gives the same figures, and equal parameters equal ones", () => {
  fc.assert(
    fc.property(requests, fc.nat(3), (numbers, coldWorkers) => {
      const parameters = { ...DEFAULT_PARAMETERS, minLoad: 0, coldWorkers };
      const first = runTrial(trialOf(numbers, parameters, { ...parameters }));
      assert.deepEqual(first.present, first.proposed);
      assert.deepEqual(runTrial(trialOf(numbers, { ...parameters, minLoad: 10 }, parameters)).proposed, first.present);
    }),
    { numRuns: 20 },
  );
});

test("a simulation begins with the workers that its parameters keep without traffic", () => {
  const parameters: TrialParameters = { ...DEFAULT_PARAMETERS, minLoad: 0, coldWorkers: 2 };
  assert.deepEqual(startOf(parameters, model), { hotCount: 0, stoppedCount: 2 });
  assert.deepEqual(startOf({ ...parameters, inactivityTimeoutS: -1 }, model), { hotCount: 1, stoppedCount: 1 });
  assert.deepEqual(startOf({ ...parameters, minLoad: 150 }, model), { hotCount: 2, stoppedCount: 2 });
  assert.deepEqual(startOf({ ...parameters, minLoad: 150, state: "stopped" }, model), { hotCount: 0, stoppedCount: 4 });
  assert.deepEqual(startOf({ ...parameters, minLoad: 1e9 }, model), { hotCount: 20, stoppedCount: 0 });
});

test("a stopped endpoint serves no request, and the result says so", () => {
  const { proposed } = runTrial(trialOf([0, 1], always(1), { ...always(1), state: "stopped" }));
  assert.deepEqual([proposed.unservedCount, proposed.lateShare, proposed.waitMs.p50], [1, 1, Infinity]);
});
