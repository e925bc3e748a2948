import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RateLimiter } from "./rate-limit.ts";

const limits = fc.record({ perSecond: fc.integer({ min: 1, max: 100 }), burst: fc.integer({ min: 1, max: 100 }) });
const gapsMs = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 300 });

test("no window ever sees more requests than its burst and its share of the rate", () => {
  fc.assert(
    fc.property(limits, gapsMs, (limit, gaps) => {
      const limiter = new RateLimiter();
      let now = 0;
      const allowedAt: number[] = [];
      for (const gap of gaps) {
        now += gap;
        if (limiter.take("b", limit, now).allowed) allowedAt.push(now);
      }
      for (let first = 0; first < allowedAt.length; first += 1) {
        for (let last = first; last < allowedAt.length; last += 1) {
          const elapsedMs = (allowedAt[last] ?? 0) - (allowedAt[first] ?? 0);
          assert.ok(last - first + 1 <= limit.burst + (elapsedMs * limit.perSecond) / 1000 + 1e-6);
        }
      }
    }),
  );
});

test("a client that stays at its rate is never refused, and one that waits as told is let in", () => {
  fc.assert(
    fc.property(limits, (limit) => {
      const limiter = new RateLimiter();
      for (let index = 0; index < 200; index += 1) {
        assert.ok(limiter.take("steady", limit, (index * 1000) / limit.perSecond).allowed);
      }
      let decision = limiter.take("eager", limit, 0);
      while (decision.allowed) decision = limiter.take("eager", limit, 0);
      assert.ok(limiter.take("eager", limit, decision.retryAfterMs).allowed);
    }),
  );
});

test("requests of one identity do not count against another", () => {
  const limiter = new RateLimiter();
  const limit = { perSecond: 1, burst: 1 };
  assert.ok(limiter.take("a", limit, 0).allowed);
  assert.ok(!limiter.take("a", limit, 0).allowed);
  assert.ok(limiter.take("b", limit, 0).allowed);
});
