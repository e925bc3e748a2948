import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { roundHalfUp, roundToSum, roundToTotal } from "./money.ts";

const CENT = 10_000_000n;
const parts = fc.array(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), { maxLength: 30 });
const units = fc.constantFrom(1n, 7n, 1_000_000n, CENT);
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

test("rounded parts add up to their rounded total, and each is less than a unit away from what it was", () => {
  fc.assert(
    fc.property(parts, units, (amounts, unit) => {
      const rounded = roundToSum(amounts, unit);
      assert.equal(sum(rounded), roundHalfUp(sum(amounts), unit));
      for (const [index, amount] of amounts.entries()) {
        const difference = (rounded[index] ?? 0n) - amount;
        assert.ok(-unit < difference && difference < unit);
        assert.equal((rounded[index] ?? 1n) % unit, 0n);
      }
    }),
  );
});

test("the parts of a part add up to what the part was rounded to", () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), units, (groups, unit) => {
      const totals = roundToSum(groups.map(sum), unit);
      for (const [index, group] of groups.entries()) {
        assert.equal(sum(roundToTotal(group, unit, totals[index] ?? 0n)), totals[index]);
      }
    }),
  );
});

test("a multiple of the unit stays as it is beside any other numbers", () => {
  fc.assert(
    fc.property(parts, fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }), (amounts, cents) => {
      assert.equal(roundToSum([...amounts, cents * CENT], CENT).at(-1), cents * CENT);
    }),
  );
});

test("the cent that is missing goes to who lost most, and of equals to the first", () => {
  assert.deepEqual(roundToSum([4_000_000n, 5_000_000n, 6_000_000n], CENT), [0n, CENT, CENT]);
  assert.deepEqual(roundToSum([5_000_000n, 5_000_000n], CENT), [CENT, 0n]);
  assert.deepEqual(roundToSum([3_333_333n, 3_333_333n, 3_333_334n], CENT), [0n, 0n, CENT]);
  assert.deepEqual(roundToSum([], CENT), []);
});

test("half a unit goes up, below zero too", () => {
  assert.equal(roundHalfUp(5_000_000n, CENT), CENT);
  assert.equal(roundHalfUp(-5_000_000n, CENT), 0n);
  assert.equal(roundHalfUp(-5_000_001n, CENT), -CENT);
  assert.equal(roundHalfUp(4_999_999n, CENT), 0n);
});
