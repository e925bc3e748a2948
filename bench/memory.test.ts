import assert from "node:assert/strict";
import { test } from "node:test";
import { measureMemory } from "./memory.ts";

test("a small memory benchmark runs and its audit finds every host, GPU and offer", async () => {
  assert.deepEqual(await measureMemory({ hosts: 12, gpus: 3, instances: 4, "idle-seconds": 0 }), []);
});
