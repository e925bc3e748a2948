import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { decideDue, FREQUENCIES, LATE_MAX_MS, nextAt, type Timetable } from "./timetable.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** Spans of up to three weeks, around leap days and the days on which clocks of countries are changed too. */
const timetables: fc.Arbitrary<Timetable> = fc
  .record({
    frequency: fc.constantFrom(...FREQUENCIES),
    day: fc.nat(6),
    hour: fc.nat(23),
    minOfTheHour: fc.nat(59),
    startMs: fc.oneof(
      fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }),
      fc.constantFrom(Date.UTC(2024, 1, 28), Date.UTC(2026, 2, 28, 23, 30), Date.UTC(2026, 9, 24, 23, 30)),
    ),
    spanMs: fc.integer({ min: 0, max: 21 * DAY_MS }),
  })
  .map(({ frequency, day, hour, minOfTheHour, startMs, spanMs }) => ({
    frequency,
    dayOfTheWeek: frequency === "WEEKLY" ? day : undefined,
    hourOfTheDay: frequency === "WEEKLY" || frequency === "DAILY" ? hour : undefined,
    minOfTheHour: frequency === "ONCE" ? 0 : minOfTheHour,
    startMs,
    endMs: frequency === "ONCE" ? startMs : startMs + spanMs,
  }));

/** The reference: each minute of the span is compared with the calendar. */
function occurrencesOf(timetable: Timetable): readonly number[] {
  const { frequency, startMs, endMs } = timetable;
  if (frequency === "ONCE") return [startMs];
  const found: number[] = [];
  for (let at = Math.ceil(startMs / MINUTE_MS) * MINUTE_MS; at <= endMs; at += MINUTE_MS) {
    const time = new Date(at);
    const isDay = timetable.dayOfTheWeek === undefined || time.getUTCDay() === timetable.dayOfTheWeek;
    const isHour = timetable.hourOfTheDay === undefined || time.getUTCHours() === timetable.hourOfTheDay;
    if (isDay && isHour && time.getUTCMinutes() === timetable.minOfTheHour) found.push(at);
  }
  return found;
}

/** A timetable with moments at which a server looks at it, from before its start until well after its end. */
const looks = timetables.chain((timetable) => {
  const spanMs = timetable.endMs - timetable.startMs + 3 * DAY_MS;
  const step = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: spanMs }));
  return fc.tuple(fc.constant(timetable), fc.array(step, { maxLength: 40 }));
});

test("the next occurrence is the first minute of the calendar that fits, from any moment", () => {
  fc.assert(
    fc.property(timetables, fc.integer({ min: -DAY_MS, max: 22 * DAY_MS }), (timetable, offsetMs) => {
      const fromMs = timetable.startMs + offsetMs;
      const expected = occurrencesOf(timetable).find((at) => at >= fromMs);
      assert.equal(nextAt(timetable, fromMs), expected);
    }),
  );
});

test("each occurrence is run or missed exactly once, whenever servers look: no double, no gap", () => {
  fc.assert(
    fc.property(looks, ([timetable, steps]) => {
      const expected = occurrencesOf(timetable);
      const told: number[] = [];
      let dueMs = nextAt(timetable, Number.NEGATIVE_INFINITY);
      let nowMs = timetable.startMs - DAY_MS;
      // The last look is after the end, so that everything has been due by then.
      for (const stepMs of [...steps, timetable.endMs + 2 * DAY_MS]) {
        if (dueMs === undefined) break;
        nowMs += stepMs;
        const { missed, runMs, nextMs } = decideDue(timetable, dueMs, nowMs);
        if (missed !== undefined) {
          const stretch = expected.filter((at) => at >= missed.firstMs && at <= missed.lastMs);
          assert.equal(stretch.length, missed.count);
          told.push(...stretch);
        }
        if (runMs !== undefined) told.push(runMs);
        dueMs = nextMs;
      }
      assert.deepEqual(told, expected);
    }),
  );
});

test("an occurrence runs when it is due and less than an hour late, and no other runs", () => {
  fc.assert(
    fc.property(timetables, fc.integer({ min: -DAY_MS, max: 23 * DAY_MS }), (timetable, offsetMs) => {
      const dueMs = nextAt(timetable, Number.NEGATIVE_INFINITY);
      if (dueMs === undefined) return;
      const nowMs = timetable.startMs + offsetMs;
      const runnable = occurrencesOf(timetable).filter((at) => at <= nowMs && nowMs - at < LATE_MAX_MS);
      assert.deepEqual([decideDue(timetable, dueMs, nowMs).runMs ?? []].flat(), runnable);
    }),
  );
});
