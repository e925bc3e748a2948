import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf, readConditions, withCondition } from "../../console/src/text/conditions.ts";

test("a search text is taken apart into conditions, and what is none stays at its end", () => {
  assert.deepEqual(readConditions('num_gpus>=2 gpu_name in [RTX_4090,H100] geolocation="NO, Oslo" price'), {
    conditions: [
      { field: "num_gpus", operator: ">=", value: "2" },
      { field: "gpu_name", operator: "in", value: "[RTX_4090,H100]" },
      { field: "geolocation", operator: "=", value: '"NO, Oslo"' },
    ],
    rest: "price",
  });
});

test("a form's field replaces the condition that it shows, and nothing else of the text", () => {
  const text = 'num_gpus>=2 gpu_name=RTX_4090 geolocation="NO, Oslo"';
  assert.equal(conditionOf(text, "num_gpus", ">="), "2");
  assert.equal(conditionOf(text, "geolocation", "="), "NO, Oslo");
  assert.equal(conditionOf(text, "num_gpus", "<="), undefined);
  const four = withCondition(text, { field: "num_gpus", operator: ">=", value: "4" });
  assert.equal(four, 'gpu_name=RTX_4090 geolocation="NO, Oslo" num_gpus>=4');
  assert.equal(
    withCondition(four, { field: "num_gpus", operator: ">=", value: undefined }).includes("num_gpus"),
    false,
  );
  assert.equal(withCondition("", { field: "gpu_name", operator: "=", value: "RTX 4090" }), "gpu_name=RTX_4090");
  assert.equal(withCondition("", { field: "hostname", operator: "=", value: 'a"b c' }), 'hostname="ab c"');
});

test("text that is still being typed is kept when a field changes", () => {
  const typed = "gpu_name=H100 num_gp";
  assert.equal(
    withCondition(typed, { field: "verified", operator: "=", value: "true" }),
    "gpu_name=H100 verified=true num_gp",
  );
});
