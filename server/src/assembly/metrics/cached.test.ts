import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { Cached } from "./cached.ts";

test("a value is read once in a while, those who ask meanwhile share it, and a failure is not kept", async () => {
  const clock = new ManualClock();
  let readings = 0;
  let isFailing = false;
  const read = async () => {
    readings += 1;
    if (isFailing) throw new Error("away");
    return readings;
  };
  const cached = new Cached(read, { keptMs: 1_000, clock });
  assert.deepEqual(await Promise.all([cached.get(), cached.get()]), [1, 1]);
  clock.advance(999);
  assert.equal(await cached.get(), 1);
  clock.advance(1);
  isFailing = true;
  await assert.rejects(cached.get(), /away/);
  isFailing = false;
  assert.equal(await cached.get(), 3);
});
