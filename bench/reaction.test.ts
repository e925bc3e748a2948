import assert from "node:assert/strict";
import { test } from "node:test";
import { measureReaction } from "./reaction.ts";

test("a small reaction benchmark orders a worker for each step, and passes its audit", async () => {
  const { timesMs, problems } = await measureReaction({
    rounds: 2,
    hosts: 4,
    "gpus-per-host": 4,
    endpoints: 2,
    requests: 5,
  });
  assert.deepEqual(problems, []);
  assert.ok(timesMs.length === 2 && timesMs.every((ms) => ms > 0), String(timesMs));
});
