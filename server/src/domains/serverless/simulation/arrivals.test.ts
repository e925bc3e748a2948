import assert from "node:assert/strict";
import { test } from "node:test";
import { NOW_MS } from "../../../../../test/support/serverless/situations.ts";
import { arrivalsOf } from "./arrivals.ts";

test("traffic by the second becomes requests of the same number and load, in order", () => {
  const sample = (second: number, requestCount: number, load: number) => ({
    ...{ secondMs: NOW_MS + second * 1_000, requestCount, load },
    ...{ waitedCount: 0, waitMsMax: 0 },
  });
  assert.deepEqual(arrivalsOf([sample(0, 2, 30), sample(3, 1, 7)], NOW_MS), [
    { atMs: 0, load: 15 },
    { atMs: 500, load: 15 },
    { atMs: 3_000, load: 7 },
  ]);
  assert.deepEqual(arrivalsOf([], NOW_MS), []);
});
