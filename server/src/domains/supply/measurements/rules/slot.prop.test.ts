import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { placeSample, type Placed } from "./slot.ts";

const BEGIN_MS = 1_800_000_000_000;

/** The places of samples that arrive at these times. */
function placesOf(timesMs: readonly number[]): readonly number[] {
  const slots: number[] = [];
  let before: Placed | undefined;
  for (const atMs of timesMs) {
    const placed = placeSample(before, atMs);
    if (placed === undefined) continue;
    before = placed;
    slots.push(placed.slot);
  }
  return slots;
}

test("samples in equal steps, each late by up to two seconds, have one place each and leave none out", () => {
  const lateness = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 2, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999 }), lateness, (phaseMs, late) => {
      const slots = placesOf(late.map((ms, index) => BEGIN_MS + phaseMs + index * 10_000 + ms));
      assert.equal(slots.length, late.length);
      for (const [index, slot] of slots.entries()) assert.equal(slot, slots[0]! + index);
    }),
  );
});

test("samples that come in any number and at any time have places of their own, near their arrival and in order", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (gapsMs) => {
      let atMs = BEGIN_MS;
      let before: Placed | undefined;
      let last = Number.NEGATIVE_INFINITY;
      for (const gapMs of gapsMs) {
        atMs += gapMs;
        const placed = placeSample(before, atMs);
        if (placed === undefined) continue;
        assert.ok(placed.slot > last);
        assert.ok(Math.abs(atMs - placed.slot * 10_000) <= 15_000);
        [before, last] = [placed, placed.slot];
      }
    }),
  );
});
