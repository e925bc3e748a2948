import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { meterEnded, meterRunning, totalOf, type Meter } from "./meter.ts";

const step = fc.record({
  passed_ms: fc.integer({ min: 0, max: 10_000 }),
  /** The wall clock may be set while the agent looks on. */
  wall_jump_ms: fc.oneof(fc.constant(0), fc.integer({ min: -100_000, max: 100_000 })),
  what: fc.constantFrom("running", "ended", "restarted", "older copy"),
  received_bytes: fc.integer({ min: 0, max: 1_000_000 }),
});

describe("a meter", () => {
  it("never goes back, whatever the clocks and the engine do", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let meter: Meter | undefined;
        let [now_ms, monotonic_ms, started_at_ms] = [1_000_000, 5_000, 1_000_000];
        let before = totalOf(undefined);
        for (const one of steps) {
          monotonic_ms += one.passed_ms;
          now_ms += one.passed_ms + one.wall_jump_ms;
          if (one.what === "restarted") started_at_ms = now_ms;
          const start = one.what === "older copy" ? started_at_ms - 1 : started_at_ms;
          const run = { run_key: `c@${start}`, started_at_ms: start, monotonic_ms };
          const traffic = { received_bytes: one.received_bytes, sent_bytes: 0 };
          meter =
            one.what === "ended"
              ? meterEnded(meter, { ...run, finished_at_ms: now_ms })
              : meterRunning(meter, { ...run, now_ms, traffic });
          const after = totalOf(meter);
          assert.ok(after.running_ms >= before.running_ms && after.received_bytes >= before.received_bytes);
          before = after;
        }
      }),
    );
  });

  it("once a run is seen from its start, it never counts more time than has passed", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const started_at_ms = 1_000_000;
        let [now_ms, monotonic_ms] = [started_at_ms, 5_000];
        const run = () => ({ run_key: "c", started_at_ms, monotonic_ms });
        let meter = meterRunning(undefined, { ...run(), now_ms, traffic: null });
        for (const one of steps) {
          monotonic_ms += one.passed_ms;
          now_ms += one.passed_ms + one.wall_jump_ms;
          meter = meterRunning(meter, { ...run(), now_ms, traffic: null });
        }
        meter = meterEnded(meter, { ...run(), finished_at_ms: now_ms });
        assert.ok(totalOf(meter).running_ms <= monotonic_ms - 5_000);
      }),
    );
  });

  it("an adopted run counts from its start, an ended one exactly to its end", () => {
    const run = { run_key: "c", started_at_ms: 1_000, monotonic_ms: 50 };
    assert.equal(totalOf(meterRunning(undefined, { ...run, now_ms: 61_000, traffic: null })).running_ms, 60_000);
    assert.equal(totalOf(meterEnded(undefined, { ...run, finished_at_ms: 31_000 })).running_ms, 30_000);
  });
});
