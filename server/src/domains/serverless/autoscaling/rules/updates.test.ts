import assert from "node:assert/strict";
import { test } from "node:test";
import { aGroup, aSituation, aWorker, steadyLoad } from "../../../../../../test/support/serverless/situations.ts";
import { decide } from "./decide.ts";
import type { WorkerView } from "./types.ts";

test("a recreated worker is away until it is ready again: at most a quarter of a group is away at once", () => {
  const groups = [aGroup(1, { isUpdating: true })];
  const old = [3, 4, 5, 6, 7, 8].map((id) => aWorker(id, { isOutdated: true }));
  const drained = (phases: readonly WorkerView["phase"][]) => {
    const renewed = phases.map((phase, index) => aWorker(index + 1, { phase }));
    const { actions } = decide(aSituation({ groups, workers: [...renewed, ...old], samples: steadyLoad(100) }));
    return actions.flatMap((action) => (action.kind === "drain" ? [Number(action.workerId)] : []));
  };
  assert.deepEqual(drained(["ordered", "ordered"]), []);
  assert.deepEqual(drained(["ordered", "loading"]), []);
  assert.deepEqual(drained(["ready", "loading"]), [3]);
  assert.deepEqual(drained(["ready", "ready"]), [3, 4]);
});
