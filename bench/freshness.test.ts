import assert from "node:assert/strict";
import { test } from "node:test";
import { measureFreshness } from "./freshness.ts";

test("a small freshness benchmark sees every kind of change", async () => {
  const times = await measureFreshness({ offers: 50, rounds: 1 });
  assert.equal(times.size, 7);
  assert.ok([...times.values()].every((all) => all.length === 1 && all.every((ms) => ms > 0)));
});
