import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CREDITED_MS, creditedSince, creditOfStretches } from "./host-credit.ts";

const START = new Date("2026-01-01T00:00:00Z");
const stretch = fc.record({
  ms: fc.integer({ min: 1, max: 2_000_000 }),
  amountNanos: fc.bigInt({ min: 0n, max: 10_000_000_000n }),
  paidFrom: fc.constantFrom("credit" as const, "deposit" as const),
});

test("a credit for a failure exceeds neither the payments for the run nor the price of its last ten minutes", () => {
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 6 }), (made) => {
      let atMs = START.getTime();
      const stretches = made.map(({ ms, amountNanos, paidFrom }) => {
        const [fromAt, toAt] = [new Date(atMs), new Date(atMs + ms)];
        atMs += ms;
        return { fromAt, toAt, quantity: BigInt(ms), amountNanos, paidFrom };
      });
      const since = creditedSince(START, BigInt(atMs - START.getTime()));
      assert.equal(since.getTime(), Math.max(START.getTime(), atMs - CREDITED_MS));
      const { fromCredit, fromDeposit } = creditOfStretches(stretches, since);
      for (const [source, credited] of [
        ["credit", fromCredit],
        ["deposit", fromDeposit],
      ] as const) {
        const own = stretches.filter(({ paidFrom }) => paidFrom === source);
        const paid = own.reduce((sum, { amountNanos }) => sum + amountNanos, 0n);
        assert.ok(credited <= paid);
        const exact = own.reduce((sum, { fromAt, toAt, amountNanos }) => {
          const share = Math.max(0, toAt.getTime() - Math.max(fromAt.getTime(), since.getTime()));
          return sum + (Number(amountNanos) * share) / (toAt.getTime() - fromAt.getTime());
        }, 0);
        assert.ok(Math.abs(exact - Number(credited)) <= own.length + 1e-3);
        if (since.getTime() === START.getTime()) assert.equal(credited, paid, "a short run is given back whole");
      }
    }),
  );
});
