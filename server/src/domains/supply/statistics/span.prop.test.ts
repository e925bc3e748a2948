import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../base/errors.ts";
import { DAY_SECONDS, HOUR_SECONDS, CENSUS_SECONDS, readRange, stretchesOf } from "./rules/span.ts";

const NOW = new Date("2026-06-01T00:00:00Z");
const time = fc.date({ min: new Date("2020-01-01"), max: NOW, noInvalidDate: true });

test("for every request, one GPU name has at most two thousand points and all names together about forty thousand", () => {
  const seconds = fc.integer({ min: 0, max: 32_503_680_000 }).map(String);
  const asked = fc.record({ start: seconds, end: seconds, step: fc.integer({ min: 1, max: 10 ** 9 }).map(String) });
  fc.assert(
    fc.property(asked, fc.integer({ min: 0, max: 100 }), (given, nameCount) => {
      fc.pre(Number(given.start) < Number(given.end));
      const { start, end, stepSeconds } = readRange(given, { now: NOW, nameCount });
      const points = Math.ceil((end.getTime() - start.getTime()) / 1000 / stepSeconds);
      assert.ok(points <= 2_000 && points * nameCount <= 40_000 + nameCount && stepSeconds >= CENSUS_SECONDS);
    }),
  );
});

test("a range is made of stretches that follow each other without a gap, from the longest samples to single censuses", () => {
  fc.assert(
    fc.property(
      fc.tuple(time, time),
      fc.integer({ min: 300, max: 10 ** 6 }),
      fc.option(time),
      fc.option(time),
      (ends, stepSeconds, hours, days) => {
        const [start, end] = ends.toSorted((a, b) => a.getTime() - b.getTime()) as [Date, Date];
        fc.pre(start < end);
        const stretches = stretchesOf(
          { start, end, stepSeconds },
          { hours: hours ?? undefined, days: days ?? undefined },
        );
        let at = start;
        let length = Infinity;
        for (const { from, until, stepSeconds: seconds } of stretches) {
          assert.deepEqual(from, at);
          assert.ok(until > from && seconds < length);
          [at, length] = [until, seconds];
        }
        assert.deepEqual(at, end);
      },
    ),
  );
});

test("times are seconds or ISO text, the last day by default, and nonsense is refused by name", () => {
  const read = (asked: Parameters<typeof readRange>[0]) => readRange(asked, { now: NOW, nameCount: 3 });
  assert.deepEqual(read({}), { start: new Date("2026-05-31T00:00:00Z"), end: NOW, stepSeconds: 4_320 });
  assert.deepEqual(read({ start: "2026-05-01T00:00:00Z", end: "1780185600", step: "3600" }).stepSeconds, HOUR_SECONDS);
  assert.equal(read({ start: "0", step: "1" }).stepSeconds > DAY_SECONDS / 2, true);
  for (const [asked, field] of [
    [{ start: "tomorrow" }, "start"],
    [{ end: "-5" }, "end"],
    [{ end: "1e400" }, "end"],
    [{ step: "0" }, "step"],
    [{ step: "NaN" }, "step"],
    [{ start: "1780000000", end: "1770000000" }, "start"],
  ] as const) {
    assert.throws(
      () => read(asked),
      (error) => error instanceof AppError && error.extra["field"] === field,
    );
  }
});
