import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { payableOf, youngPart } from "./payable.ts";

const amount = fc.bigInt(-1_000n, 1_000n);
const part = fc.bigInt(0n, 1_500n);

test("the payable and the waiting parts add up to the earnings, and no payout contains granted or young money", () => {
  fc.assert(
    fc.property(
      amount,
      amount,
      part,
      part,
      fc.boolean(),
      (balanceNanos, grantedNanos, releasableNanos, youngNanos, isHeld) => {
        const { payable, released, granted, young, held, debt } = payableOf({
          balanceNanos,
          grantedNanos,
          releasableNanos,
          youngNanos,
          isHeld,
        });
        for (const value of [payable, released, granted, young, held, debt]) assert.ok(value >= 0n);
        assert.equal(payable + granted + young + held - debt, balanceNanos);
        const cash = balanceNanos - grantedNanos;
        assert.ok(payable - released <= (cash > 0n ? cash : 0n), "no more than the cash is paid of cash");
        assert.ok(released <= releasableNanos);
        if (isHeld) assert.equal(payable, 0n);
      },
    ),
  );
});

test("a renter's payments to a host wait at most up to the host's earnings from them, and up to the renter's young money", () => {
  const earned = new Map([
    [1, 70n],
    [2, 30n],
    [3, 5n],
  ]);
  assert.equal(
    youngPart(
      earned,
      new Map([
        [1, 50n],
        [2, 100n],
      ]),
    ),
    80n,
  );
});
