import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOf, isAmple, lastingOf, needsHold, nextSettlement, periodsFor, type Lasting } from "./period.ts";

const DOLLAR = 1_000_000_000n;
const RUNS = { isBackground: false, isMetered: true, desired: "running", phase: "running" } as const;

const DAYS = { lasting: "days", lagSeconds: 0 } as const;
const seconds = (activity: Parameters<typeof periodsFor>[0], lasting: Lasting, lagSeconds = 0) =>
  periodsFor(activity, { lasting, lagSeconds }).map((period) => [period.seconds, period.marginSeconds]);

test("running instances are settled hourly while credit lasts more than a day, else every five minutes, and at last every minute", () => {
  const last = [
    [60, 45],
    [15, 45],
  ];
  const margin = 600;
  assert.deepEqual(seconds("active", "days"), [[3_600, margin], [300, margin], [60, margin], ...last]);
  assert.deepEqual(seconds("active", "hours"), [[300, margin], [60, margin], ...last]);
  assert.deepEqual(seconds("active", "minutes"), last);
  assert.equal(isAmple(24n * DOLLAR, DOLLAR), false);
  assert.equal(isAmple(24n * DOLLAR + 1n, DOLLAR), true);
  assert.equal(isAmple(0n, 0n), false);
});

test("credit that lasts minutes is used up in steps that cover uncounted time and the time of a certain stop", () => {
  assert.deepEqual(seconds("active", "minutes", 30), [
    [60, 75],
    [15, 75],
  ]);
  assert.deepEqual(seconds("leaving", "minutes", 30), [[60, 75]]);
  const limits = (...left: readonly bigint[]) =>
    lastingOf(left.map((leftNanos) => ({ leftNanos, nanosPerHour: DOLLAR })));
  assert.equal(limits(25n * DOLLAR, 30n * DOLLAR), "days");
  assert.equal(limits(25n * DOLLAR, 2n * DOLLAR), "hours", "the limit that is reached first counts");
  assert.equal(limits(25n * DOLLAR, DOLLAR / 3n), "minutes");
  assert.equal(limits(0n), "minutes");
  assert.equal(lastingOf([{ leftNanos: 1n, nanosPerHour: 0n }]), "days");
});

test("storage and waiting instances are settled once a day; ended instances and those that never ran are not due", () => {
  for (const phase of ["stopped", "scheduled"] as const) {
    const waiting = activityOf({ ...RUNS, phase });
    assert.deepEqual(
      [waiting, needsHold(waiting), periodsFor(waiting, DAYS)],
      ["waiting", true, [{ seconds: 86_400, marginSeconds: 600 }]],
    );
  }
  const resting = activityOf({ ...RUNS, desired: "stopped", phase: "stopped" });
  assert.deepEqual(
    [resting, needsHold(resting), periodsFor(resting, DAYS)],
    ["resting", false, [{ seconds: 86_400, marginSeconds: 600 }]],
  );
  for (const standing of [{ phase: "ended", desired: "destroyed" } as const, { isBackground: true }]) {
    const over = activityOf({ ...RUNS, ...standing });
    assert.deepEqual([over, needsHold(over), periodsFor(over, DAYS)], ["over", false, []]);
  }
  assert.equal(activityOf({ ...RUNS, isMetered: false, phase: "starting" }), "unproven");
});

test("an instance keeps a hold until it has stopped", () => {
  for (const phase of ["running", "yielding", "stopping", "ending"] as const) {
    const leaving = activityOf({ ...RUNS, desired: phase === "ending" ? "destroyed" : "stopped", phase });
    assert.deepEqual([leaving, needsHold(leaving)], ["leaving", true]);
  }
});

test("storage that could not be paid is due again at the next midnight, and never later than storage that was paid", () => {
  const now = new Date("2026-02-28T15:00:00Z");
  const [hour, day] = [3_600_000, 86_400_000];
  const due = (afterMs: number, isShort: boolean) => nextSettlement(now, { afterMs, isShort }).toISOString();
  assert.equal(due(day, false), "2026-03-01T15:00:00.000Z");
  assert.equal(due(day, true), "2026-03-01T00:00:00.000Z");
  assert.equal(due(hour, true), "2026-02-28T16:00:00.000Z");
  const midnight = new Date("2026-03-01T00:00:00Z");
  assert.equal(nextSettlement(midnight, { afterMs: 2 * day, isShort: true }).toISOString(), "2026-03-02T00:00:00.000Z");
});
