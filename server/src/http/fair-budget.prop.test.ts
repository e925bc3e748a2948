import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairBudget } from "./fair-budget.ts";

const RULE = { callerBytesMax: 40, totalBytesMax: 100 };
const steps = fc.array(
  fc.record({ caller: fc.nat({ max: 9 }), bytes: fc.integer({ min: 1, max: 45 }), isRelease: fc.boolean() }),
  { maxLength: 200 },
);

test("no more is held than the rule allows, and a caller is refused only for one that holds no more than it", () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const held = new Map<number, { readonly caller: string; readonly bytes: number }>();
      const budget = new FairBudget<number>(RULE, (item) => void held.delete(item));
      const sumOf = (caller?: string) =>
        [...held.values()].reduce(
          (sum, one) => sum + (caller === undefined || one.caller === caller ? one.bytes : 0),
          0,
        );
      taken.forEach(({ caller: name, bytes, isRelease }, item) => {
        const [oldest] = held.keys();
        if (isRelease && oldest !== undefined) {
          budget.release(oldest);
          budget.release(oldest);
          held.delete(oldest);
          return;
        }
        const caller = String(name);
        const wanted = sumOf(caller) + bytes;
        if (budget.take(item, { caller, bytes })) held.set(item, { caller, bytes });
        else {
          const largest = Math.max(0, ...[...held.values()].map((one) => sumOf(one.caller)));
          assert.ok(wanted > RULE.callerBytesMax || largest <= wanted, "who holds most makes room");
        }
        assert.ok(sumOf() <= RULE.totalBytesMax && sumOf(caller) <= RULE.callerBytesMax);
      });
    }),
  );
});
