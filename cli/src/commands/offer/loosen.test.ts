import assert from "node:assert/strict";
import { test } from "node:test";
import { splitConditions } from "./loosen.ts";
import { parseOrder } from "./order.ts";

test("a query is taken apart into its conditions, however it is written", () => {
  assert.deepEqual(splitConditions('num_gpus>=2 gpu_name in ["RTX 4090", H100]  geolocation = "NO" dph lt 0.5'), [
    "num_gpus>=2",
    'gpu_name in ["RTX 4090", H100]',
    'geolocation = "NO"',
    "dph lt 0.5",
  ]);
});

test("a query that is not understood whole, or is long, is not taken apart", () => {
  for (const q of ["", "num_gpus", "num_gpus>=2 oops", Array.from({ length: 9 }, (_, i) => `a${i}=1`).join(" ")]) {
    assert.deepEqual(splitConditions(q), [], q);
  }
});

test("a field with - at the end is sorted by from the highest", () => {
  assert.deepEqual(parseOrder("score-,dph_total,id+"), [
    ["score", "desc"],
    ["dph_total", "asc"],
    ["id", "asc"],
  ]);
});
