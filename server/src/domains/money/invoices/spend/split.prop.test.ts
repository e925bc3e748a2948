import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { forecastMonth, splitByDay, type DayAmount } from "./rules/split.ts";

const amounts = fc.array(
  fc.record({
    day: fc.integer({ min: 98, max: 106 }),
    part: fc.integer({ min: 1, max: 8 }).map((id) => ({ id: `part:${id}`, name: `Part ${id}` })),
    amount: fc.bigInt({ min: 0n, max: 1000n }),
  }),
  { maxLength: 40 },
);

test("series add up to every amount of the days, and the largest parts have their own", () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 6 }), (all: readonly DayAmount[], most) => {
      const series = splitByDay(all, { firstDay: 100, dayCount: 5, most });
      const known = all.filter(({ day }) => day >= 100 && day < 105);
      const sum = (own: readonly bigint[]) => own.reduce((total, one) => total + one, 0n);
      assert.ok(series.length <= most);
      for (let day = 0; day < 5; day += 1) {
        const expected = sum(known.filter((one) => one.day === 100 + day).map(({ amount }) => amount));
        assert.equal(sum(series.map((one) => one.amounts[day] ?? 0n)), expected);
      }
      for (const { id, total, amounts: own } of series) {
        assert.equal(sum(own), total);
        if (id === "others") continue;
        assert.equal(sum(known.filter(({ part }) => part.id === id).map(({ amount }) => amount)), total);
      }
      const totals = series.filter(({ id }) => id !== "others").map(({ total }) => total);
      assert.deepEqual(
        totals,
        totals.toSorted((a, b) => Number(b - a)),
      );
    }),
  );
});

test("a forecast ends with the month, and a balance lasts as long as its hours", () => {
  const now = new Date("2026-12-31T22:00:00Z");
  const hour = 1_000_000_000n;
  assert.deepEqual(forecastMonth(now, { spent: 5n * hour, nanosPerHour: hour, balance: 3n * hour }), {
    monthNanos: 7n * hour,
    monthEnd: new Date("2027-01-01T00:00:00Z"),
    dryAt: new Date("2027-01-01T01:00:00Z"),
  });
  assert.equal(forecastMonth(now, { spent: 0n, nanosPerHour: 0n, balance: hour }).dryAt, undefined);
  assert.deepEqual(forecastMonth(now, { spent: 0n, nanosPerHour: hour, balance: -hour }).dryAt, now);
});
