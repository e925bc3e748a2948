import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type InstanceId, type WorkerGroupId } from "../../../base/ids.ts";
import { EndpointMemory, Rests } from "./endpoint-memory.ts";

test("a resting machine is left alone for its time, and then forgotten without another question", () => {
  const rests = new Rests<InstanceId>();
  const [one, two, three] = [asId<InstanceId>(1), asId<InstanceId>(2), asId<InstanceId>(3)];
  rests.add(one, { nowMs: 0, forMs: 10 });
  rests.add(two, { nowMs: 5, forMs: 10 });
  assert.deepEqual(
    [rests.has(one, 9), rests.has(one, 10), rests.has(two, 10), rests.has(three, 10)],
    [true, false, true, false],
  );
  rests.add(three, { nowMs: 12, forMs: 10 });
  assert.equal(rests.count, 2);
});

test("the memory keeps nothing of groups that are gone", () => {
  const memory = new EndpointMemory();
  const [stays, goes] = [asId<WorkerGroupId>(1), asId<WorkerGroupId>(2)];
  for (const id of [stays, goes]) memory.found.set(id, { offers: [], untilMs: 1 });
  memory.keepGroups(new Set([stays]));
  assert.deepEqual([...memory.found.keys()], [stays]);
});
