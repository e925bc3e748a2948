import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createLog } from "./log.ts";
import { LoopDriver, type Loop } from "./loop-driver.ts";

const log = createLog("silent");

/** A loop whose runs end when the test says so. */
function aLoop(overrides: Partial<Loop> = {}) {
  const ends: ((fails?: boolean) => void)[] = [];
  const loop: Loop = {
    name: "work",
    description: "Works.",
    everyMs: 1000,
    run: () =>
      new Promise((resolve, reject) => {
        ends.push((fails) => (fails === true ? reject(new Error("broken")) : resolve({ done: ends.length })));
      }),
    ...overrides,
  };
  const clock = new ManualClock();
  return { driver: new LoopDriver([loop], { clock, log }), ends, clock };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a loop runs at its period and never twice at once", async () => {
  const { driver, ends, clock } = aLoop();
  driver.start();
  clock.advance(999);
  assert.equal(ends.length, 0);
  clock.advance(1);
  assert.equal(ends.length, 1);
  clock.advance(5000);
  assert.equal(ends.length, 1, "the first run is still under way");
  ends[0]?.();
  await turn();
  assert.equal(ends.length, 2, "what was asked for meanwhile is one run, not five");
  ends[1]?.();
  await turn();
  assert.equal(ends.length, 2);
});

test("a wake during a run is followed by another run", async () => {
  const { driver, ends } = aLoop();
  driver.wake("work");
  driver.wake("work");
  driver.wake("work");
  driver.wake("unknown");
  assert.equal(ends.length, 1);
  ends[0]?.();
  await turn();
  assert.equal(ends.length, 2);
});

test("a failed run is reported, not repeated, and the next one comes at its time", async () => {
  const { driver, ends, clock } = aLoop();
  driver.start();
  clock.advance(1000);
  ends[0]?.(true);
  await turn();
  const [report] = driver.report();
  assert.deepEqual([report?.run_count, report?.failure_count, report?.last_error], [1, 1, "Error: broken"]);
  clock.advance(1000);
  ends[1]?.();
  await turn();
  assert.deepEqual([driver.report()[0]?.last_error, driver.report()[0]?.last_status], [null, { done: 2 }]);
});

test("a loop that has not succeeded for three periods since its start is not healthy until it does", async () => {
  const { driver, ends, clock } = aLoop();
  clock.advance(13_001);
  assert.equal(driver.isHealthy(), true, "nothing is late before the start");
  driver.start();
  assert.equal(driver.isHealthy(), true);
  clock.advance(13_001);
  assert.equal(driver.isHealthy(), false);
  ends[0]?.();
  await turn();
  assert.equal(driver.isHealthy(), true);
});

test("a loop that was woken, but never started, is not late after its run", async () => {
  const { driver, ends, clock } = aLoop();
  driver.wake("work");
  ends[0]?.();
  await turn();
  clock.advance(13_001);
  assert.equal(driver.isHealthy(), true);
});

test("stopping waits for the run under way and starts no further one", async () => {
  const { driver, ends, clock } = aLoop();
  driver.start();
  clock.advance(1000);
  driver.wake("work");
  let isStopped = false;
  const stopping = driver.stop().then(() => (isStopped = true));
  await turn();
  assert.equal(isStopped, false);
  ends[0]?.();
  await stopping;
  clock.advance(10_000);
  driver.wake("work");
  await turn();
  assert.equal(ends.length, 1);
});
