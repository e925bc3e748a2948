import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countByModel, occupancyOf, type MachineGpus } from "./gpus.ts";

const machines = fc.array(
  fc
    .record({
      gpuName: fc.constantFrom("A", "B"),
      presentCount: fc.integer({ min: 0, max: 8 }),
      sickCount: fc.integer({ min: 0, max: 8 }),
      rentedCount: fc.integer({ min: 0, max: 9 }),
      isConnected: fc.boolean(),
      isListed: fc.boolean(),
    })
    .map(({ sickCount, isListed, ...machine }): MachineGpus => ({
      ...machine,
      usableCount: Math.max(0, machine.presentCount - sickCount),
      isOpen: isListed && machine.isConnected,
    })),
  { maxLength: 12 },
);

test("each GPU is counted in exactly one state", () => {
  fc.assert(
    fc.property(machines, (given) => {
      const counts = countByModel(given);
      const total = given.reduce((sum, { presentCount }) => sum + presentCount, 0);
      assert.equal(
        counts.reduce((sum, one) => sum + one.total, 0),
        total,
      );
      for (const { total: all, rented, free, broken, offline, unlisted } of counts) {
        assert.equal(rented + free + broken + offline + unlisted, all);
        assert.ok([rented, free, broken, offline, unlisted].every((count) => count >= 0));
      }
      const occupancy = occupancyOf(counts);
      assert.ok(occupancy === undefined || (occupancy >= 0 && occupancy <= 1));
    }),
  );
});

test("a sick GPU is broken, one of a machine that is away is offline, and both only while nobody rents them", () => {
  const machine = { gpuName: "A", presentCount: 4, usableCount: 3, isConnected: true, isOpen: true };
  const [here] = countByModel([{ ...machine, rentedCount: 1 }]);
  assert.deepEqual([here?.rented, here?.free, here?.broken, here?.offline], [1, 2, 1, 0]);
  const [away] = countByModel([{ ...machine, rentedCount: 1, isConnected: false, isOpen: false }]);
  assert.deepEqual([away?.rented, away?.free, away?.broken, away?.offline], [1, 0, 0, 3]);
  const [full] = countByModel([{ ...machine, rentedCount: 4 }]);
  assert.deepEqual([full?.rented, full?.free, full?.broken], [4, 0, 0]);
});
