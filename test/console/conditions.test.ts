import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf, readConditions, toSearch, withCondition } from "../../console/src/text/conditions.ts";

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

test("a search follows each key: an unfinished condition waits, and words choose GPUs by their names", () => {
  const names = ["RTX 4090", "RTX 4090 D", "H100 SXM", 'odd"],name 4090'];
  const means = (text: string) => toSearch(text, names);
  for (const unread of ["num_gp", "num_gpus", "num_gpus>=", "gpu_name in [RTX_4090,", 'geolocation="Oslo, ']) {
    assert.deepEqual(means(`dph_total<2 ${unread}`), { q: "dph_total<2", unread: unread.trim() });
  }
  assert.deepEqual(means("4090"), { q: "gpu_name in [RTX_4090,RTX_4090_D]", unread: "" });
  assert.deepEqual(means("h100 num_gpus>=2"), { q: "num_gpus>=2 gpu_name in [H100_SXM]", unread: "" });
  assert.deepEqual(means("rtx 4090 dph_to"), { q: "gpu_name in [RTX_4090,RTX_4090_D]", unread: "dph_to" });
  assert.deepEqual(means(""), { q: "", unread: "" });
  for (const forTheServer of ["num_gpus>=2 ??", '{"num_gpus": {"eq": 2}}', "one two three"]) {
    assert.deepEqual(means(forTheServer), { q: forTheServer, unread: "" });
  }
});
