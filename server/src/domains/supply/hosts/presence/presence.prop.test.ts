import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { planPresence, SETTLE_MS } from "./rules/presence.ts";
import { dayOf } from "./rules/reliability.ts";

const instant = fc.date({ min: new Date("2026-01-01"), max: new Date("2026-12-31"), noInvalidDate: true });
const later = (at: Date, ms: number) => new Date(at.getTime() + ms);

test("a count covers exactly the time since the last one, each stretch within its day", () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 1, max: 300_000 }), (from, gapMs) => {
      const now = later(from, gapMs);
      const plan = planPresence(from, now);
      assert.equal(plan.kind, "count");
      if (plan.kind !== "count") return;
      let at = from.getTime();
      for (const part of plan.parts) {
        assert.equal(part.from.getTime(), at);
        assert.ok(part.until > part.from);
        assert.equal(dayOf(part.from), part.day);
        assert.equal(dayOf(later(part.until, -1)), part.day);
        at = part.until.getTime();
      }
      assert.equal(at, now.getTime());
      assert.equal(plan.until.getTime(), now.getTime());
    }),
  );
});

test("a count up to a time that is counted already counts nothing", () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 0, max: SETTLE_MS }), (now, aheadMs) => {
      assert.deepEqual(planPresence(later(now, aheadMs), now), { kind: "wait" });
    }),
  );
});

test("a long gap, and a clock that was set back, count neither way, and agents have time to come back", () => {
  const now = new Date("2026-05-05T12:00:00Z");
  const skip = { kind: "skip", until: later(now, SETTLE_MS) };
  assert.deepEqual(planPresence(later(now, -300_001), now), skip);
  assert.deepEqual(planPresence(later(now, -86_400_000), now), skip);
  assert.deepEqual(planPresence(later(now, SETTLE_MS + 1), now), skip);
});
