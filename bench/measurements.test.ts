import assert from "node:assert/strict";
import { test } from "node:test";
import { measureMeasurements } from "./measurements.ts";

test("a small benchmark of measurements finds what it stored, smaller than rows of ten seconds", async () => {
  const cost = await measureMeasurements({ machines: 60, instances: 2 });
  assert.ok(cost.storeMs > 0 && cost.rollUpMs > 0 && cost.bytesPerInstanceDay > 0);
  assert.ok(cost.heldBytes > cost.bytesPerInstanceDay);
});
