import assert from "node:assert/strict";
import { test } from "node:test";
import { changeParameters, DEFAULT_PARAMETERS, planParameters, type Parameters } from "./parameters.ts";
import { describeRemoval, nextRemovalAt } from "../../workers/rules/removal.ts";

test("a group without parameters has the published defaults", () => {
  const { minLoad, targetUtil, coldMult, coldWorkers, maxWorkers, name } = planParameters({});
  assert.deepEqual(
    [minLoad, targetUtil, coldMult, coldWorkers, maxWorkers, name],
    [10, 0.9, 2.5, 5, 20, "default-endpoint"],
  );
});

test("cold workers above the cap are stored as they were sent, in a new group and in a change", () => {
  const both = ({ coldWorkers, maxWorkers }: Parameters) => [coldWorkers, maxWorkers];
  assert.deepEqual(both(planParameters({ max_workers: 3 })), [5, 3]);
  assert.deepEqual(both(planParameters({ max_workers: 3, cold_workers: 4 })), [4, 3]);
  assert.deepEqual(both(planParameters({ max_workers: 3, min_workers: 4 })), [4, 3]);
  assert.deepEqual(both(changeParameters(DEFAULT_PARAMETERS, { max_workers: 3 })), [5, 3]);
  assert.deepEqual(both(changeParameters(DEFAULT_PARAMETERS, { cold_workers: 21 })), [21, 20]);
});

test("min_workers is another name of cold_workers", () => {
  assert.equal(planParameters({ min_workers: 2 }).coldWorkers, 2);
  assert.equal(planParameters({ min_workers: 2, cold_workers: 2 }).coldWorkers, 2);
  assert.throws(() => planParameters({ min_workers: 2, cold_workers: 3 }), { extra: { field: "min_workers" } });
});

test("names may hold blanks", () => {
  assert.equal(planParameters({ endpoint_name: "my bench run" }).name, "my bench run");
});

const refused = [
  ["endpoint_name", ""],
  ["endpoint_name", "  "],
  ["endpoint_name", "a\u0007"],
  ["endpoint_name", "\ud800"],
  ["endpoint_name", "x".repeat(256)],
  ["endpoint_state", "running"],
  ["min_load", -1],
  ["min_load", 12345678901],
  ["min_load", 0.333333333333],
  ["min_load", Number.NaN],
  ["min_cold_load", -0.1],
  ["target_util", 0],
  ["target_util", 1.1],
  ["cold_mult", 0],
  ["cold_mult", -2],
  ["cold_workers", -1],
  ["cold_workers", 1.5],
  ["max_workers", 0],
  ["max_workers", 1e12],
  ["max_queue_time", -1],
  ["target_queue_time", Infinity],
  ["inactivity_timeout", Number.NaN],
] as const;
for (const [field, value] of refused) {
  test(`${field} ${JSON.stringify(value)} is refused by its name`, () => {
    assert.throws(() => planParameters({ [field]: value }), { kind: "invalid", extra: { field } });
  });
}

test("a negative inactivity timeout means never to scale to zero", () => {
  assert.equal(planParameters({ inactivity_timeout: -1 }).inactivityTimeoutS, -1);
});

test("a removal is tried again soon at first, and every five minutes in the end", () => {
  const now = new Date(0);
  const delays = [1, 2, 3, 10, 1_000_000].map((attempts) => nextRemovalAt(now, attempts).getTime());
  assert.deepEqual(delays, [1000, 2000, 4000, 300_000, 300_000]);
});

test("the answer to a deletion counts the workers", () => {
  assert.equal(
    describeRemoval("endpoint job", { deletedCount: 2, failedCount: 0 }),
    "Deleted endpoint job and 2 workers",
  );
  assert.match(
    describeRemoval("workergroup", { deletedCount: 1, failedCount: 1 }),
    /1 worker; 1 could not be removed yet/,
  );
});
