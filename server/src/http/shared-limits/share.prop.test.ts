import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Limit } from "../rate-limit.ts";
import { Share } from "./share.ts";

const limits = fc.record({ perSecond: fc.integer({ min: 1, max: 200 }), burst: fc.integer({ min: 1, max: 400 }) });
const serverCounts = fc.integer({ min: 2, max: 4 });

/** The shared bucket, as the database keeps it, and the servers that use it. */
class Servers {
  readonly #shares: readonly Share[];
  #emptyAtMs = 0;

  constructor(limit: Limit, count: number) {
    this.#shares = Array.from({ length: count }, () => new Share(limit, count));
  }

  /** One request at one server; the shared bucket is asked as often as it takes. */
  request(index: number, nowMs: number): boolean {
    const share = this.#at(index);
    for (;;) {
      const decision = share.take(nowMs);
      if (decision !== "ask") return decision.allowed;
      this.exchange(index, nowMs);
    }
  }

  exchange(index: number, nowMs: number): void {
    const share = this.#at(index);
    this.#emptyAtMs = Math.max(this.#emptyAtMs, nowMs) + share.send();
    share.learn(this.#emptyAtMs - nowMs, nowMs);
  }

  #at(index: number): Share {
    const share = this.#shares[index % this.#shares.length];
    assert.ok(share);
    return share;
  }
}

test("however requests come, all servers together are never ahead by more than a quarter of a burst and a request each", () => {
  const steps = fc.array(
    fc.record({
      gapMs: fc.integer({ min: 0, max: 300 }),
      server: fc.nat(3),
      count: fc.integer({ min: 1, max: 50 }),
      exchanges: fc.boolean(),
    }),
    { minLength: 1, maxLength: 80 },
  );
  fc.assert(
    fc.property(limits, serverCounts, steps, (limit, count, all) => {
      const servers = new Servers(limit, count);
      let [nowMs, allowed] = [0, 0];
      for (const { gapMs, server, count: requests, exchanges } of all) {
        nowMs += gapMs;
        for (let index = 0; index < requests; index += 1) if (servers.request(server, nowMs)) allowed += 1;
        if (exchanges) servers.exchange(server, nowMs);
        const most = limit.burst * 1.25 + (nowMs * limit.perSecond) / 1000 + 2 * count;
        assert.ok(allowed <= most, `${allowed} after ${nowMs} ms, of at most ${most}`);
      }
    }),
  );
});

test("a flood at all servers gets within a minute what one server would give, to within one percent", () => {
  const minuteMs = 60_000;
  fc.assert(
    fc.property(limits, serverCounts, (limit, count) => {
      const servers = new Servers(limit, count);
      let allowed = 0;
      for (let nowMs = 0; nowMs < minuteMs; nowMs += 100) {
        for (let index = 0; index < 20 * count; index += 1) if (servers.request(index, nowMs)) allowed += 1;
        for (let index = 0; index < count; index += 1) servers.exchange(index, nowMs);
      }
      const exact = limit.burst + (minuteMs / 1000) * limit.perSecond;
      assert.ok(allowed <= exact * 1.01 + count, `${allowed} instead of ${exact}`);
      assert.ok(allowed >= exact * 0.99 - count, `only ${allowed} instead of ${exact}`);
    }),
    { numRuns: 10 },
  );
});

test("a client that stays within its limit is never refused, at one server or at all in turn", () => {
  fc.assert(
    fc.property(limits, serverCounts, (limit, count) => {
      const servers = new Servers(limit, count);
      for (let index = 0; index < limit.burst; index += 1) {
        assert.ok(servers.request(0, 0), `request ${index} of a burst of ${limit.burst}`);
      }
      servers.exchange(0, 0);
      for (let index = 1; index < 100; index += 1) {
        const nowMs = index * (1000 / limit.perSecond + 0.001);
        assert.ok(servers.request(index, nowMs));
        servers.exchange(index, nowMs);
      }
    }),
  );
});
