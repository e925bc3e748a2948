import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AGE_MS_MAX, ATTEMPTS_MAX, judgeStatus, nextAttemptAt } from "./rules/retry.ts";

const aChance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const START = new Date("2026-01-01T00:00:00Z");

test("every status is accepted, refused or tried again as the contract says", () => {
  for (let status = 100; status <= 999; status += 1) {
    const isTaken = status >= 200 && status <= 299;
    const isAgain = status === 408 || status === 429 || status >= 500;
    assert.equal(judgeStatus(status).kind, isTaken ? "delivered" : isAgain ? "retry" : "refused", String(status));
  }
});

test("for all random numbers, delays between attempts grow, end within a day, and are many enough to outlast an outage of hours", () => {
  fc.assert(
    fc.property(fc.array(aChance, { minLength: ATTEMPTS_MAX, maxLength: ATTEMPTS_MAX }), (chances) => {
      let now = START;
      let attempt = 1;
      for (; ; attempt += 1) {
        const next = nextAttemptAt({ attempt, createdAt: START, now, chance: chances[attempt - 1] ?? 0 });
        if (next === undefined) break;
        const waitMs = next.getTime() - now.getTime();
        const wholeMs = Math.min(7_200_000, 15_000 * 2 ** (attempt - 1));
        assert.ok(waitMs > wholeMs / 2 - 1 && waitMs <= wholeMs, `attempt ${attempt} waits ${waitMs}`);
        now = next;
      }
      assert.ok(now.getTime() - START.getTime() <= AGE_MS_MAX);
      assert.ok(now.getTime() - START.getTime() > AGE_MS_MAX - 7_200_000, "it was given up early");
      assert.ok(attempt < ATTEMPTS_MAX, "its age ends it, not the number of attempts");
    }),
  );
});
