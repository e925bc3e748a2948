import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { fail, succeed } from "../engine/engine.ts";
import { ImageCache } from "./image-cache.ts";
import { silentLog } from "../base/log.ts";

const HOUR_MS = 3_600_000;

function cacheOf({ isLow = true, refuses = "" } = {}) {
  const clock = new ManualClock();
  const removed: string[] = [];
  const cache = new ImageCache({
    clock,
    log: silentLog,
    noted: undefined,
    isDiskLow: async () => isLow,
    engine: {
      removeImage: async (image) => {
        if (image === refuses) return fail("conflict", "a container uses it");
        removed.push(image);
        return succeed(undefined);
      },
    },
  });
  return { clock, removed, cache };
}

describe("images on a host that runs out of room", () => {
  it("go one at a time, the longest unused first, and never one that an order names", async () => {
    const { cache, clock, removed } = cacheOf();
    for (const image of ["first", "second", "wanted"]) {
      cache.note(image);
      await clock.advance(1_000);
    }
    await clock.advance(2 * HOUR_MS);
    for (let round = 0; round < 4; round += 1) await cache.sweep(new Set(["wanted"]));
    assert.deepEqual(removed, ["first", "second"]);
    assert.deepEqual(Object.keys(cache.notes()), ["wanted"]);
  });

  it("stay while there is room, within an hour of their use, and when they were never pulled here", async () => {
    const roomy = cacheOf({ isLow: false });
    roomy.cache.note("one");
    await roomy.clock.advance(2 * HOUR_MS);
    await roomy.cache.sweep(new Set());
    const recent = cacheOf();
    recent.cache.note("one");
    await recent.clock.advance(HOUR_MS - 1);
    await recent.cache.sweep(new Set());
    const foreign = cacheOf();
    foreign.cache.touch("of the operator");
    await foreign.clock.advance(2 * HOUR_MS);
    await foreign.cache.sweep(new Set());
    assert.deepEqual([roomy.removed, recent.removed, foreign.removed], [[], [], []]);
  });

  it("one that a container still uses does not keep the others from going", async () => {
    const { cache, clock, removed } = cacheOf({ refuses: "used" });
    cache.note("used");
    await clock.advance(1_000);
    cache.note("free");
    await clock.advance(2 * HOUR_MS);
    await cache.sweep(new Set());
    await cache.sweep(new Set());
    assert.deepEqual(removed, ["free"]);
    assert.ok("used" in cache.notes());
  });
});
