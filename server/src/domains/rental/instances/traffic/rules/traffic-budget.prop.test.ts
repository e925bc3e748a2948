import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { trafficLeft, type TrafficState } from "./traffic-budget.ts";

const HOUR_MS = 3_600_000n;
const DOLLAR = 1_000_000_000n;
const rules = { baseNanos: 2n * DOLLAR, sharePermille: 4000 };
const FRESH: TrafficState = { limitNanos: undefined, spentNanos: 0n, leftNanos: undefined, leftAtMs: 0n };

/** Charges the wanted traffic after each stretch of running, as far as the budget allows; returns the charges. */
function play(
  priceNanosPerHour: bigint,
  steps: readonly { readonly ranMs: bigint; readonly wanted: bigint }[],
): bigint {
  let [state, ranMs] = [FRESH, 0n];
  for (const step of steps) {
    ranMs += step.ranMs;
    const left = trafficLeft(state, { priceNanosPerHour, ranMs, rules });
    const charged = step.wanted < left ? step.wanted : left;
    state = { ...state, spentNanos: state.spentNanos + charged, leftNanos: left - charged, leftAtMs: ranMs };
  }
  return state.spentNanos;
}

test("the traffic of an instance never costs more than the base and four times what its running time costs, one hour ahead", () => {
  const step = fc.record({
    ranMs: fc.bigInt({ min: 0n, max: 200n * HOUR_MS }),
    wanted: fc.bigInt({ min: 0n, max: 1_000_000n * DOLLAR }),
  });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 100n * DOLLAR }), fc.array(step, { maxLength: 20 }), (price, steps) => {
      const ranMs = steps.reduce((sum, one) => sum + one.ranMs, 0n);
      const most = rules.baseNanos + (4n * price * (ranMs + HOUR_MS)) / HOUR_MS;
      assert.ok(play(price, steps) <= most);
    }),
  );
});

test("a flood after any time costs at most the base and a day's growth", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10_000n * HOUR_MS }), (ranMs) => {
      const price = DOLLAR / 2n;
      assert.ok(play(price, [{ ranMs, wanted: 1_000_000n * DOLLAR }]) <= rules.baseNanos + 24n * 4n * price);
    }),
  );
});

test("a job that downloads at 1 Gbit/s for a month at an honest price never meets the default budget", () => {
  // 450 GB an hour at $0.002, on a machine of $0.30 an hour.
  const steps = Array.from({ length: 24 * 30 }, () => ({ ranMs: HOUR_MS, wanted: (450n * DOLLAR) / 500n }));
  assert.equal(play((3n * DOLLAR) / 10n, steps), 24n * 30n * ((450n * DOLLAR) / 500n));
});

test("a limit that the renter set bounds all traffic costs, at any price of the instance", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: DOLLAR }), fc.bigInt({ min: 0n, max: DOLLAR }), (limitNanos, spentNanos) => {
      const state = { ...FRESH, limitNanos, spentNanos };
      const left = trafficLeft(state, { priceNanosPerHour: DOLLAR, ranMs: 1_000n * HOUR_MS, rules });
      assert.equal(left, limitNanos > spentNanos ? limitNanos - spentNanos : 0n);
    }),
  );
});
