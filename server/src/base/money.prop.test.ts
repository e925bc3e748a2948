import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDollars, mulDivCeil, mulDivFloor, nanos, parseDollars, toDollars } from "./money.ts";

const amounts = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
const naturals = fc.bigInt({ min: 0n, max: 10n ** 15n });

test("an amount printed as text reads back to the nano-dollar", () => {
  fc.assert(fc.property(amounts, (amount) => parseDollars(formatDollars(amount)) === nanos(amount)));
});

test("every number of nano-dollars that a double can hold survives the wire", () => {
  const exact = fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n });
  fc.assert(fc.property(exact, (amount) => parseDollars(toDollars(amount)) === nanos(amount)));
});

test("rounding down and up differ by at most one and enclose the true value", () => {
  fc.assert(
    fc.property(naturals, naturals, fc.bigInt({ min: 1n, max: 10n ** 12n }), (value, numerator, denominator) => {
      const floor = mulDivFloor(value, numerator, denominator);
      const ceil = mulDivCeil(value, numerator, denominator);
      assert.ok(floor * denominator <= value * numerator && value * numerator <= ceil * denominator);
      assert.ok(ceil - floor <= 1n);
    }),
  );
});

test("dollars are read by their digits, not by float arithmetic", () => {
  assert.equal(parseDollars(0.1), 100_000_000n);
  assert.equal(parseDollars(0.29), 290_000_000n);
  assert.equal(parseDollars(1e-7), 100n);
  assert.equal(parseDollars("1.0000000019"), 1_000_000_001n);
  assert.equal(parseDollars("-.5"), -500_000_000n);
});

test("a text that is no decimal amount is refused", () => {
  const refused = [Number.NaN, Infinity, -Infinity, "", ".", "1,5", "0x10", "1e999", "1e400", 1e10, "١", "1 2", "--1"];
  for (const text of refused) {
    assert.equal(parseDollars(text), undefined, String(text));
  }
});
