import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { discountPpm } from "./rules/discount.ts";

test("the discount goes through the published points and scales with the host's maximum", () => {
  assert.deepEqual(
    [0, 0.5, 1, 2, 3, 5, 500].map((months) => discountPpm(months, 400)),
    [0, 100_000, 200_000, 250_000, 300_000, 400_000, 400_000],
  );
  assert.deepEqual([discountPpm(1, 200), discountPpm(3, 500), discountPpm(12, 0)], [100_000, 375_000, 0]);
  assert.equal(discountPpm(12, 900), 500_000, "half is the most");
  assert.deepEqual([discountPpm(-1, 400), discountPpm(Number.NaN, 400), discountPpm(Infinity, 400)], [0, 0, 400_000]);
});

test("the discount never falls with more months and never exceeds the host's maximum", () => {
  const months = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(months, months, fc.integer({ min: 0, max: 1000 }), (a, b, maxPermille) => {
      const [fewer, more] = [discountPpm(Math.min(a, b), maxPermille), discountPpm(Math.max(a, b), maxPermille)];
      assert.ok(0 <= fewer && fewer <= more && more <= Math.min(maxPermille, 500) * 1000);
      assert.ok(Number.isInteger(more));
    }),
  );
});
