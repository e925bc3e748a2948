import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  computeReliability,
  dayOf,
  firstDayOf,
  startOfDay,
  WINDOW_DAYS,
  type ReliabilityFacts,
} from "./rules/reliability.ts";

const HOUR_MS = 3_600_000n;
const DAY_MS = 24n * HOUR_MS;

const time = fc.bigInt({ min: 0n, max: 40n * DAY_MS });
const someFacts: fc.Arbitrary<ReliabilityFacts> = fc
  .record({
    onlineMs: time,
    offlineMs: time,
    rentedPermille: fc.bigInt({ min: 0n, max: 1000n }),
    maintenanceMs: time,
    failedStarts: fc.bigInt({ min: 0n, max: 10_000n }),
  })
  .map(({ rentedPermille, ...facts }) => ({ ...facts, offlineRentedMs: (facts.offlineMs * rentedPermille) / 1000n }));

const NOTHING: ReliabilityFacts = {
  onlineMs: 0n,
  offlineMs: 0n,
  offlineRentedMs: 0n,
  maintenanceMs: 0n,
  failedStarts: 0n,
};
const of = (facts: Partial<ReliabilityFacts>) => computeReliability({ ...NOTHING, ...facts }).reliabilityPpm;

test("a new machine has exactly 0.6, one that never failed has 0.9 after 66 hours and 1 after 30 days", () => {
  assert.equal(of({}), 600_000);
  assert.ok(of({ onlineMs: 65n * HOUR_MS }) < 900_000);
  assert.ok(of({ onlineMs: 66n * HOUR_MS }) >= 900_000);
  assert.equal(of({ onlineMs: 30n * DAY_MS }), 1_000_000);
  assert.equal(of({ offlineMs: 30n * DAY_MS }), 0);
});

test("for all facts, reliability is a ratio of four decimals", () => {
  fc.assert(
    fc.property(someFacts, (facts) => {
      const ppm = of(facts);
      assert.ok(ppm >= 0 && ppm <= 1_000_000);
      assert.equal(ppm % 100, 0);
    }),
    { numRuns: 2000 },
  );
});

test("no fact moves it in the wrong direction, in any amount", () => {
  const more = fc.oneof(fc.constant(1n), fc.bigInt({ min: 1n, max: DAY_MS }));
  fc.assert(
    fc.property(someFacts, more, (facts, by) => {
      const before = of(facts);
      assert.ok(of({ ...facts, onlineMs: facts.onlineMs + by }) >= before, "online");
      assert.ok(of({ ...facts, offlineMs: facts.offlineMs + by }) <= before, "offline");
      assert.ok(of({ ...facts, offlineRentedMs: facts.offlineRentedMs + by }) <= before, "rented offline");
      assert.ok(of({ ...facts, maintenanceMs: facts.maintenanceMs + by }) <= before, "maintenance");
      assert.ok(of({ ...facts, failedStarts: facts.failedStarts + by }) <= before, "failed starts");
    }),
    { numRuns: 2000 },
  );
});

test("24 hours of announced maintenance are free, and not an hour more", () => {
  const onlineMs = 100n * HOUR_MS;
  assert.equal(of({ onlineMs, maintenanceMs: DAY_MS }), of({ onlineMs }));
  assert.equal(of({ onlineMs, maintenanceMs: DAY_MS + HOUR_MS }), of({ onlineMs, offlineMs: HOUR_MS }));
});

test("the example of the documentation has the documented result", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../../../../../docs/reliability.md"), "utf8");
  const value = (name: string) => {
    const text = new RegExp(`^\\| ${name} +\\| (\\d+)`, "m").exec(page)?.[1];
    assert.ok(text, `the page has no ${name}`);
    return BigInt(text);
  };
  const ppm = of({
    onlineMs: value("online") * HOUR_MS,
    offlineMs: value("offline") * HOUR_MS,
    offlineRentedMs: value("of which rented") * HOUR_MS,
    maintenanceMs: value("announced maintenance") * HOUR_MS,
    failedStarts: value("failed starts"),
  });
  assert.equal((ppm / 1e6).toFixed(4), /\*\*(0\.\d{4})\*\*/.exec(page)?.[1]);
});

test("the window is today and the 29 days before it", () => {
  const now = new Date("2026-03-01T23:59:59.999Z");
  assert.equal(startOfDay(firstDayOf(now)).toISOString(), "2026-01-31T00:00:00.000Z");
  assert.equal(dayOf(now) - firstDayOf(now) + 1, WINDOW_DAYS);
});
