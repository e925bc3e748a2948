import assert from "node:assert/strict";
import { test } from "node:test";
import { order } from "../../test/fixtures.ts";
import { observe, type ObserveInput } from "./observe.ts";

const NOTHING: ObserveInput = {
  orders: [],
  containers: [],
  disks: new Set(),
  appliedGenerations: new Map(),
  activities: new Map(),
  setbacks: new Map(),
  halted: new Map(),
  counters: () => ({ runningMs: 0, receivedBytes: 0, sentBytes: 0 }),
  usage: () => null,
  sshHostKey: () => null,
  engineProblem: null,
};

test("the receipt waits until the disk is gone too", () => {
  const gone = order(7, { generation: 2, run: "absent" });
  const stateOf = (disks: ReadonlySet<number> | undefined) => observe({ ...NOTHING, disks, orders: [gone] })[0]?.state;
  assert.deepEqual([stateOf(new Set([7])), stateOf(new Set()), stateOf(undefined)], ["stopping", "absent", "failed"]);
});

test("a stop during a pull, or of an image that cannot be pulled, is done at once: nothing runs", () => {
  const stopped = order(7, { generation: 2, run: "stopped" });
  const pulling = { generation: 2, state: "pulling", text: "pulling busybox" } as const;
  const inputs: readonly Partial<ObserveInput>[] = [
    {},
    { activities: new Map([[7, pulling]]) },
    { setbacks: new Map([[7, { generation: 2, message: "unable to find image" }]]) },
  ];
  for (const input of inputs) {
    const [seen] = observe({ ...NOTHING, ...input, orders: [stopped] });
    assert.deepEqual([seen?.state, seen?.generation], ["stopped", 2]);
  }
});

test("before the engine has answered once, a stop is not taken for done", () => {
  const stopped = order(7, { generation: 2, run: "stopped" });
  const [seen] = observe({ ...NOTHING, containers: undefined, orders: [stopped] });
  assert.equal(seen?.state, "failed");
});
