import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { meterEnded, meterRunning, totalOf, type Meter } from "./meter.ts";

const step = fc.record({
  passedMs: fc.integer({ min: 0, max: 10_000 }),
  /** The wall clock may be set while the agent looks on. */
  wallJumpMs: fc.oneof(fc.constant(0), fc.integer({ min: -100_000, max: 100_000 })),
  what: fc.constantFrom("running", "ended", "restarted", "older copy"),
  receivedBytes: fc.integer({ min: 0, max: 1_000_000 }),
});

describe("a meter", () => {
  it("never goes back, for any jumps of clocks and counters", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let meter: Meter | undefined;
        let [nowMs, monotonicMs, startedAtMs] = [1_000_000, 5_000, 1_000_000];
        let before = totalOf(undefined);
        for (const one of steps) {
          monotonicMs += one.passedMs;
          nowMs += one.passedMs + one.wallJumpMs;
          if (one.what === "restarted") startedAtMs = nowMs;
          const start = one.what === "older copy" ? startedAtMs - 1 : startedAtMs;
          const run = { runKey: `c@${start}`, startedAtMs: start, monotonicMs };
          const traffic = { receivedBytes: one.receivedBytes, sentBytes: 0 };
          meter =
            one.what === "ended"
              ? meterEnded(meter, { ...run, finishedAtMs: nowMs })
              : meterRunning(meter, { ...run, nowMs, traffic });
          const after = totalOf(meter);
          assert.ok(after.runningMs >= before.runningMs && after.receivedBytes >= before.receivedBytes);
          before = after;
        }
      }),
    );
  });

  it("once a run is seen from its start, it never counts more time than has passed", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const startedAtMs = 1_000_000;
        let [nowMs, monotonicMs] = [startedAtMs, 5_000];
        const run = () => ({ runKey: "c", startedAtMs, monotonicMs });
        let meter = meterRunning(undefined, { ...run(), nowMs, traffic: null });
        for (const one of steps) {
          monotonicMs += one.passedMs;
          nowMs += one.passedMs + one.wallJumpMs;
          meter = meterRunning(meter, { ...run(), nowMs, traffic: null });
        }
        meter = meterEnded(meter, { ...run(), finishedAtMs: nowMs });
        assert.ok(totalOf(meter).runningMs <= monotonicMs - 5_000);
      }),
    );
  });

  it("an adopted run counts from its start, an ended one exactly to its end", () => {
    const run = { runKey: "c", startedAtMs: 1_000, monotonicMs: 50 };
    assert.equal(totalOf(meterRunning(undefined, { ...run, nowMs: 61_000, traffic: null })).runningMs, 60_000);
    assert.equal(totalOf(meterEnded(undefined, { ...run, finishedAtMs: 31_000 })).runningMs, 30_000);
  });
});
