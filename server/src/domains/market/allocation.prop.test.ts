import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type DeviceId, type InstanceId } from "../../base/ids.ts";
import { allocate, compareRank, offerSizes, type Claim, type Holder, type MachineClaims } from "./allocation.ts";

const claim = fc.record({
  isBid: fc.boolean(),
  priceNanosPerHour: fc.bigInt({ min: 1n, max: 5n }),
  createdAtMs: fc.integer({ min: 0, max: 5 }),
  deviceCount: fc.integer({ min: 1, max: 4 }),
});

/** Random machines of up to eight devices; ids are given in order, so every claim is distinct. */
const machines: fc.Arbitrary<MachineClaims> = fc
  .record({
    freeCount: fc.integer({ min: 0, max: 8 }),
    holders: fc.array(fc.tuple(claim, fc.boolean(), fc.nat(3)), { maxLength: 4 }),
    waiting: fc.array(claim, { maxLength: 5 }),
  })
  .map(({ freeCount, holders, waiting }) => ({
    freeDevices: Array.from({ length: freeCount }, (_, index) => asId<DeviceId>(index + 1)),
    holders: holders.map(([held, isLeaving, brokenCount], index): Holder => ({
      ...held,
      isLeaving,
      usableCount: Math.max(0, held.deviceCount - brokenCount),
      instanceId: asId<InstanceId>(100 + index),
    })),
    waiting: waiting.map((wanted, index): Claim => ({ ...wanted, instanceId: asId<InstanceId>(200 + index) })),
  }));

test("no device is granted twice, and each claim gets exactly what it asked for", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { grants } = allocate(machine);
      const granted = grants.flatMap((grant) => grant.deviceIds);
      assert.equal(new Set(granted).size, granted.length);
      assert.ok(granted.every((device) => machine.freeDevices.includes(device)));
      for (const grant of grants) {
        const wanted = machine.waiting.find((waiting) => waiting.instanceId === grant.instanceId);
        assert.equal(wanted?.deviceCount, grant.deviceIds.length);
      }
    }),
  );
});

test("on-demand is never displaced, and a bid only by a strictly higher claim", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { displaced, grants } = allocate(machine);
      const served = new Set(grants.map((grant) => grant.instanceId));
      const unserved = machine.waiting.filter((waiting) => !served.has(waiting.instanceId));
      for (const id of displaced) {
        const victim = machine.holders.find((holder) => holder.instanceId === id);
        assert.ok(victim?.isBid && !victim.isLeaving);
        assert.ok(
          unserved.some(
            (waiting) =>
              !waiting.isBid ||
              waiting.priceNanosPerHour * BigInt(victim.deviceCount) >
                victim.priceNanosPerHour * BigInt(waiting.deviceCount),
          ),
        );
      }
    }),
  );
});

test("the displaced are the lowest-ranked bids: none that stays ranks below one that goes", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { displaced } = allocate(machine);
      const bids = machine.holders.filter((holder) => holder.isBid && !holder.isLeaving && holder.usableCount > 0);
      const leaving = bids.filter((holder) => displaced.includes(holder.instanceId));
      const staying = bids.filter((holder) => !displaced.includes(holder.instanceId));
      for (const goes of leaving) for (const stays of staying) assert.ok(compareRank(stays, goes) < 0);
    }),
  );
});

test("a bid whose devices are all broken is displaced by nobody", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { displaced } = allocate(machine);
      for (const holder of machine.holders.filter(({ usableCount }) => usableCount === 0)) {
        assert.ok(!displaced.includes(holder.instanceId));
      }
    }),
  );
});

test("deciding again after the decision was carried out displaces nobody else", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { grants, displaced } = allocate(machine);
      const granted = new Map(grants.map((grant) => [grant.instanceId, grant.deviceIds]));
      const taken = new Set(grants.flatMap((grant) => grant.deviceIds));
      const next: MachineClaims = {
        freeDevices: machine.freeDevices.filter((device) => !taken.has(device)),
        holders: [
          ...machine.holders.map((holder) => ({
            ...holder,
            isLeaving: holder.isLeaving || displaced.includes(holder.instanceId),
          })),
          ...machine.waiting
            .filter((waiting) => granted.has(waiting.instanceId))
            .map((w) => ({ ...w, isLeaving: false, usableCount: w.deviceCount })),
        ],
        waiting: machine.waiting.filter((waiting) => !granted.has(waiting.instanceId)),
      };
      assert.deepEqual(allocate(next), { grants: [], displaced: [] });
    }),
  );
});

test("the first in rank always gets its devices when they are free", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const first = machine.waiting.toSorted(compareRank)[0];
      if (first === undefined || first.deviceCount > machine.freeDevices.length) return;
      assert.equal(allocate(machine).grants[0]?.instanceId, first.instanceId);
    }),
  );
});

test("offers cover the smallest slice, its doublings and everything that is available", () => {
  assert.deepEqual(offerSizes(8, 1), [1, 2, 4, 8]);
  assert.deepEqual(offerSizes(7, 1), [1, 2, 4, 7]);
  assert.deepEqual(offerSizes(6, 2), [2, 4, 6]);
  assert.deepEqual(offerSizes(1, 1), [1]);
  assert.deepEqual(offerSizes(1, 2), []);
  assert.deepEqual(offerSizes(0, 1), []);
});
