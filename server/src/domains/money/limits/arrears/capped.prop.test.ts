import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isLifted, stateDeletion, type CapState } from "./rules/capped.ts";
import { graceHours } from "./rules/grace.ts";

const HOUR_MS = 3_600_000;
const NOW = new Date("2026-01-20T15:00:00Z");
const after = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS);

const rates = fc.bigInt({ min: 1n, max: 10n ** 13n });
const spends = fc.bigInt({ min: 0n, max: 10n ** 15n });
const limits = fc.bigInt({ min: 0n, max: 10n ** 18n });
const resets = fc.option(fc.integer({ min: 1, max: 31 * 24 }), { nil: undefined });
const stated = fc.option(fc.integer({ min: -336, max: 336 }), { nil: undefined });

function capOf(limitNanos: bigint, roomNanos: bigint, resetHours: number | undefined): CapState {
  return { limitNanos, roomNanos, resetsAt: resetHours === undefined ? undefined : after(resetHours) };
}

test("no deletion is stated for a cap that leaves anything, nor without stored data", () => {
  fc.assert(
    fc.property(limits, rates, spends, resets, (limit, rate, spent, reset) => {
      const custom = { averageDailySpendNanos: spent, statedBefore: undefined };
      const room = capOf(limit + 1n, 1n + limit, reset);
      assert.equal(stateDeletion(NOW, { ...custom, cap: room, storageNanosPerHour: rate }), undefined);
      assert.equal(
        stateDeletion(NOW, { ...custom, cap: capOf(limit, -1n, reset), storageNanosPerHour: 0n }),
        undefined,
      );
    }),
  );
});

test("a stated deletion is between two days and two weeks away, and never before an earlier stated one", () => {
  fc.assert(
    fc.property(limits, rates, spends, resets, stated, (limit, rate, spent, reset, before) => {
      const statedBefore = before === undefined ? undefined : after(before);
      const cap = capOf(limit, 0n, reset);
      const entry = { cap, storageNanosPerHour: rate, averageDailySpendNanos: spent, statedBefore };
      const deleteAt = stateDeletion(NOW, entry);
      const bearsADay = limit >= rate * 24n;
      if (deleteAt === undefined) {
        assert.ok(
          reset !== undefined && bearsADay && reset <= 336,
          "only a new period that pays for the storage ends it by itself",
        );
        return;
      }
      assert.ok(deleteAt >= after(48) && deleteAt <= after(336));
      if (statedBefore === undefined) {
        assert.deepEqual(deleteAt, after(graceHours({ storageNanosPerHour: rate, averageDailySpendNanos: spent })));
      } else {
        assert.ok(deleteAt >= statedBefore);
        assert.ok(
          deleteAt <= after(48) || deleteAt.getTime() === statedBefore.getTime(),
          "no new grace for the same arrears",
        );
      }
      if (reset !== undefined && bearsADay) assert.ok(after(reset) > deleteAt);
    }),
  );
});

test("a stated deletion is off when the cap is gone, nothing is stored, or the cap pays a day of storage, and for nothing less", () => {
  fc.assert(
    fc.property(limits, rates, resets, fc.bigInt({ min: 1n, max: 10n ** 15n }), (limit, rate, reset, nanos) => {
      assert.ok(isLifted(undefined, rate));
      assert.ok(isLifted(capOf(limit, -nanos, reset), 0n));
      assert.ok(isLifted(capOf(limit, rate * 24n, reset), rate));
      assert.ok(!isLifted(capOf(limit, rate * 24n - nanos, reset), rate));
    }),
  );
});

test("a cap is never stated and off at the same time", () => {
  fc.assert(
    fc.property(
      limits,
      fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
      rates,
      resets,
      (limit, room, rate, reset) => {
        const cap = capOf(limit, room, reset);
        const entry = { cap, storageNanosPerHour: rate, averageDailySpendNanos: 0n, statedBefore: undefined };
        assert.ok(stateDeletion(NOW, entry) === undefined || !isLifted(cap, rate));
      },
    ),
  );
});

test("a day's cap that pays for its storage states no deletion, one that never does states one", () => {
  const cap = (limit: bigint): CapState => ({ limitNanos: limit, roomNanos: 0n, resetsAt: after(9) });
  const entry = { storageNanosPerHour: 10n, averageDailySpendNanos: 0n, statedBefore: undefined };
  assert.equal(stateDeletion(NOW, { ...entry, cap: cap(240n) }), undefined);
  assert.deepEqual(stateDeletion(NOW, { ...entry, cap: cap(239n) }), after(48));
});
