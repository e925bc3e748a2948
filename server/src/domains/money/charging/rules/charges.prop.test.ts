import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { depositShare, runningCharge } from "./charges.ts";

const DOLLAR = 1_000_000_000n;
const price = fc.bigInt({ min: 1n, max: 200n * DOLLAR });
const discount = fc.integer({ min: 1, max: 500_000 });
const ms = fc.bigInt({ min: 0n, max: 10_000_000_000n });
const left = fc.bigInt({ min: 0n, max: 1_000n * DOLLAR });

test("a deposit pays exactly the discounted price of its time, and is never overdrawn", () => {
  fc.assert(
    fc.property(price, discount, left, ms, ms, (priceNanosPerHour, discountPpm, leftNanos, fromMs, length) => {
      const stretch = { fromMs, toMs: fromMs + length };
      const share = depositShare({ priceNanosPerHour, discountPpm, leftNanos }, stretch);
      assert.ok(share.toMs >= fromMs && share.toMs <= stretch.toMs);
      assert.ok(share.amount <= leftNanos);
      const paid = { fromMs, toMs: share.toMs };
      const fraction = priceNanosPerHour * BigInt(1_000_000 - discountPpm) * (share.toMs - fromMs);
      assert.equal(share.amount, fraction / 3_600_000_000_000n, "rounded towards the renter, once");
      assert.equal(share.amount + share.savedNanos, runningCharge(priceNanosPerHour, paid));
      if (share.toMs < stretch.toMs) assert.ok(share.isSpent, "credit pays only after the deposit is spent");
      const rest = (leftNanos - share.amount) * 3_600_000_000_000n;
      const isMillisecondPaid = rest >= priceNanosPerHour * BigInt(1_000_000 - discountPpm);
      if (share.toMs === stretch.toMs) assert.equal(share.isSpent, !isMillisecondPaid);
    }),
  );
});
