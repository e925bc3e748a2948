import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { discountPpm } from "../../supply/market/index.ts";
import { largestDeposit, monthPrice, monthsLeft, refundOf, reservationOf } from "./rules/deposit.ts";

const DOLLAR = 1_000_000_000n;
const PPM = 1_000_000n;
const MS_PER_MICRO_MONTH = 2592n;
const curveOf = (permille: number) => (months: number) => discountPpm(months, permille);
const month = monthPrice(DOLLAR);

const price = fc.bigInt({ min: 1n, max: 200n * DOLLAR });
const amount = fc.bigInt({ min: 1n, max: 1_000_000n * DOLLAR });
const permille = fc.integer({ min: 1, max: 500 });

/** The equation in fractions of 10¹²: the cost of this time without the last rounding. */
function exactCost(microMonths: bigint, monthNanos: bigint, most: number): { numerator: bigint; denominator: bigint } {
  const capped = microMonths < 5n * PPM ? microMonths : 5n * PPM;
  const curve = capped <= PPM ? 4n * capped : 3n * PPM + capped; // In twentieths of a millionth.
  const denominator = 20n * PPM * 400n;
  return {
    numerator: monthNanos * microMonths * (denominator - curve * BigInt(most)),
    denominator: PPM * denominator,
  };
}

test("the published points come out to the nano-dollar", () => {
  assert.equal(month, 720n * DOLLAR);
  const curve = curveOf(400);
  assert.deepEqual(reservationOf(576n * DOLLAR, month, curve), { microMonths: PPM, discountPpm: 200_000 });
  assert.deepEqual(reservationOf(1512n * DOLLAR, month, curve), { microMonths: 3n * PPM, discountPpm: 300_000 });
  assert.deepEqual(reservationOf(2160n * DOLLAR, month, curve), { microMonths: 5n * PPM, discountPpm: 400_000 });
  assert.deepEqual(reservationOf(4320n * DOLLAR, month, curve), { microMonths: 10n * PPM, discountPpm: 400_000 });
  assert.deepEqual(reservationOf(576n * DOLLAR - 1n, month, curve).microMonths, PPM - 1n);
});

test("the time that an amount lasts is the longest that it pays for at the discount of that very time", () => {
  fc.assert(
    fc.property(price, amount, permille, (perHour, dollars, most) => {
      const monthNanos = monthPrice(perHour);
      const { microMonths, discountPpm: discount } = reservationOf(dollars, monthNanos, curveOf(most));
      const cost = exactCost(microMonths, monthNanos, most);
      assert.ok(cost.numerator < (dollars + 1n) * cost.denominator, "the time can be paid");
      const next = exactCost(microMonths + 1n, monthNanos, most);
      const isLongest = next.numerator >= (dollars + 1n) * next.denominator || microMonths === 120_000n * PPM;
      assert.ok(isLongest, "a longer time cannot be paid");
      assert.ok(Math.abs(discount - discountPpm(Number(microMonths) / 1e6, most)) <= 1, "the discount is the market's");
    }),
  );
});

test("more money never lasts shorter, and never earns less of a discount", () => {
  fc.assert(
    fc.property(price, amount, amount, permille, (perHour, a, b, most) => {
      const [less, more] = a < b ? [a, b] : [b, a];
      const small = reservationOf(less, monthPrice(perHour), curveOf(most));
      const large = reservationOf(more, monthPrice(perHour), curveOf(most));
      assert.ok(small.microMonths <= large.microMonths && small.discountPpm <= large.discountPpm);
    }),
  );
});

test("the largest deposit lasts until the last whole millionth of a month before the end, and a larger one beyond it", () => {
  const until = fc.bigInt({ min: 1n, max: 100_000_000_000n });
  fc.assert(
    fc.property(price, until, permille, (perHour, ms, most) => {
      const monthNanos = monthPrice(perHour);
      const lasts = (amount: bigint) => reservationOf(amount, monthNanos, curveOf(most)).microMonths;
      const whole = ms / MS_PER_MICRO_MONTH;
      const largest = largestDeposit(ms, monthNanos, curveOf(most));
      assert.ok(lasts(largest) >= whole, "it lasts until the end");
      // A price below a nano-dollar for a millionth of a month makes the deposit last longer than it is paid for.
      if (perHour >= 10_000n) assert.equal(lasts(largest), whole, "and no longer");
      if (largest > 0n) assert.ok(lasts(largest - 1n) < whole, "with less it is over before");
      assert.ok(lasts(largest + monthNanos / PPM + 2n) > whole, "with more something is left at the end");
      assert.equal(largestDeposit(0n, monthNanos, curveOf(most)), 0n);
    }),
  );
});

test("a deposit is divided without a loss, and nobody gets more than their part", () => {
  const nanos = fc.bigInt({ min: 0n, max: 10_000n * DOLLAR });
  fc.assert(
    fc.property(nanos, nanos, fc.boolean(), (leftNanos, atStakeNanos, isWhole) => {
      const { toRenter, toHost, fee } = refundOf({ leftNanos, atStakeNanos, isWhole });
      assert.equal(toRenter + toHost + fee, leftNanos);
      assert.ok(toRenter >= 0n && toHost >= 0n && fee >= 0n);
      if (isWhole) assert.equal(toRenter, leftNanos);
      assert.ok(toHost <= atStakeNanos && fee * 20n <= atStakeNanos);
      const due = leftNanos - atStakeNanos - (atStakeNanos * 5n) / 100n;
      if (!isWhole) assert.equal(toRenter, due > 0n ? due : 0n);
    }),
  );
});

test("the remaining months are those that the deposit pays at its discount", () => {
  assert.equal(monthsLeft(288n * DOLLAR, month, 200_000), 0.5);
  assert.equal(monthsLeft(0n, month, 200_000), 0);
});
