import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type DeviceId, type InstanceId } from "../../../base/ids.ts";
import {
  allocate,
  compareRank,
  offerSizes,
  type Allocation,
  type Claim,
  type Holder,
  type MachineClaims,
} from "./rules/allocation.ts";

const NOW_MS = 100;

const claim = fc.record({
  kind: fc.constantFrom("on_demand", "bid", "bid", "bid", "background"),
  priceNanosPerHour: fc.bigInt({ min: 1n, max: 5n }),
  claimedAtMs: fc.integer({ min: 0, max: 5 }),
  deviceCount: fc.integer({ min: 1, max: 4 }),
  displacedAtMs: fc.option(fc.integer({ min: 0, max: NOW_MS }), { nil: undefined, freq: 2 }),
});
const holder = fc.record({
  held: claim,
  isLeaving: fc.boolean(),
  isUnderNotice: fc.boolean(),
  brokenCount: fc.constantFrom(0, 0, 0, 1, 2, 4),
  grantedAtMs: fc.integer({ min: 0, max: NOW_MS }),
});
type Drawn = typeof claim extends fc.Arbitrary<infer T> ? T : never;

function toClaim({ kind, ...drawn }: Drawn, id: number): Claim {
  return {
    ...drawn,
    isBid: kind !== "on_demand",
    isBackground: kind === "background",
    instanceId: asId<InstanceId>(id),
    displacedAtMs: kind === "on_demand" ? undefined : drawn.displacedAtMs,
  };
}

/** Random machines of up to some dozen devices; ids are given in order, so every claim is distinct. */
const machines: fc.Arbitrary<MachineClaims> = fc
  .record({
    freeCount: fc.integer({ min: 0, max: 6 }),
    holders: fc.array(holder, { maxLength: 6 }),
    waiting: fc.array(claim, { maxLength: 6 }),
    minSliceMs: fc.constantFrom(0, 20, 60),
  })
  .map(({ freeCount, holders, waiting, minSliceMs }) => ({
    freeDevices: Array.from({ length: freeCount }, (_, index) => asId<DeviceId>(index + 1)),
    holders: holders.map(({ held, brokenCount, ...rest }, index): Holder => {
      const own = toClaim(held, 100 + index);
      const isUnderNotice = rest.isUnderNotice && own.isBid;
      return { ...rest, ...own, isUnderNotice, usableCount: Math.max(0, own.deviceCount - brokenCount) };
    }),
    waiting: waiting.map((wanted, index) => toClaim(wanted, 200 + index)),
    nowMs: NOW_MS,
    minSliceMs,
  }));

function holds(property: (machine: MachineClaims) => void, numRuns = 2_000): void {
  fc.assert(fc.property(machines, property), { numRuns });
}

/** Higher is better; written as one number each, so that it shares nothing with the order under test. */
function scoreOf(one: Claim): readonly number[] {
  const tier = one.isBackground ? 0 : one.isBid ? 1 : 2;
  const price = tier === 1 ? Number(one.priceNanosPerHour) / one.deviceCount : 0;
  return [tier, price, -one.claimedAtMs, -one.instanceId];
}

function isAbove(a: Claim, b: Claim): boolean {
  const [left, right] = [scoreOf(a), scoreOf(b)];
  const index = left.findIndex((value, at) => Math.abs(value - (right[at] ?? 0)) > 1e-9);
  return index >= 0 && (left[index] ?? 0) > (right[index] ?? 0);
}

function isResting({ displacedAtMs, claimedAtMs }: Claim, { nowMs, minSliceMs }: MachineClaims): boolean {
  return displacedAtMs !== undefined && claimedAtMs <= displacedAtMs && nowMs - displacedAtMs < minSliceMs;
}

function isSpared({ displacedAtMs, grantedAtMs, isBackground }: Holder, { nowMs, minSliceMs }: MachineClaims): boolean {
  if (isBackground || displacedAtMs === undefined || displacedAtMs > grantedAtMs) return false;
  return nowMs - grantedAtMs < minSliceMs;
}

/** All sets of these holders, in order from the lowest to the highest: numbers whose bits are the members, rising. */
function setsOf(members: readonly Holder[]): readonly (readonly Holder[])[] {
  return Array.from({ length: 2 ** members.length }, (_, bits) =>
    members.filter((_one, index) => (bits & (1 << index)) !== 0),
  );
}

function devicesOf(set: readonly Holder[]): number {
  return set.reduce((all, one) => all + one.usableCount, 0);
}

/**
 * The same decision, found by trying: all sets of holders whose devices a claim might take, and the best of those that
 * suffice. The best set spares the highest holders, at any cost to those below.
 */
function decideByTrying(machine: MachineClaims) {
  let freeCount = machine.freeDevices.length;
  let leavingCount = machine.holders.reduce((all, one) => all + (one.isLeaving ? one.usableCount : 0), 0);
  const [granted, promised, gone]: [InstanceId[], InstanceId[], Set<Holder>] = [[], [], new Set()];
  const queue = [...machine.waiting];
  while (queue.length > 0) {
    const first = queue.find((one) => queue.every((other) => other === one || isAbove(one, other)));
    assert.ok(first, "ranks are a total order");
    queue.splice(queue.indexOf(first), 1);
    if (isResting(first, machine)) continue;
    if (first.deviceCount <= freeCount) {
      freeCount -= first.deviceCount;
      granted.push(first.instanceId);
      continue;
    }
    const takeable = machine.holders
      .filter((one) => one.isBid && !one.isLeaving && !gone.has(one) && one.usableCount > 0 && isAbove(first, one))
      .filter((one) => !(first.isBid && isSpared(one, machine)))
      .toSorted((a, b) => (isAbove(a, b) ? 1 : -1));
    const reach = freeCount + leavingCount;
    const enough = setsOf(takeable).find((set) => reach + devicesOf(set) >= first.deviceCount);
    if (enough === undefined) continue;
    for (const one of enough) gone.add(one);
    leavingCount = reach + devicesOf(enough) - first.deviceCount;
    freeCount = 0;
    promised.push(first.instanceId);
  }
  const victims = [...gone].toSorted((a, b) => (isAbove(a, b) ? 1 : -1));
  const spared = setsOf(victims).findLast((set) => devicesOf(set) <= leavingCount);
  for (const one of spared ?? []) gone.delete(one);
  return {
    granted,
    promised,
    displaced: machine.holders.filter((one) => gone.has(one) && !one.isUnderNotice).map((one) => one.instanceId),
    reprieved: machine.holders
      .filter((one) => one.isUnderNotice && !one.isLeaving && !gone.has(one))
      .map((one) => one.instanceId),
  };
}

function idOf({ instanceId }: Claim): InstanceId {
  return instanceId;
}

function displacedIds({ displaced }: Allocation): readonly InstanceId[] {
  return displaced.map(({ instanceId }) => instanceId);
}

/** The machine after the decision was carried out: holders notified or gone, devices granted, notices withdrawn. */
function carriedOut(machine: MachineClaims, decision: Allocation): MachineClaims {
  const granted = new Map(decision.grants.map((grant) => [grant.instanceId, grant.deviceIds]));
  const taken = new Set(decision.grants.flatMap((grant) => grant.deviceIds));
  const told = new Set(displacedIds(decision));
  return {
    ...machine,
    freeDevices: machine.freeDevices.filter((device) => !taken.has(device)),
    holders: [
      ...machine.holders.map((one) => ({
        ...one,
        isUnderNotice: (one.isUnderNotice || told.has(one.instanceId)) && !decision.reprieved.includes(one.instanceId),
      })),
      ...machine.waiting
        .filter((waiting) => granted.has(waiting.instanceId))
        .map((one) => ({
          ...one,
          isLeaving: false,
          isUnderNotice: false,
          usableCount: one.deviceCount,
          grantedAtMs: machine.nowMs,
        })),
    ],
    waiting: machine.waiting.filter((waiting) => !granted.has(waiting.instanceId)),
  };
}

test("the decision is the one that trying everything finds", () => {
  holds((machine) => {
    const decision = allocate(machine);
    const sorted = (ids: readonly InstanceId[]) => ids.toSorted((a, b) => a - b);
    const tried = decideByTrying(machine);
    assert.deepEqual(
      decision.grants.map((grant) => grant.instanceId),
      tried.granted,
    );
    assert.deepEqual(decision.promised, tried.promised);
    assert.deepEqual(sorted(displacedIds(decision)), sorted(tried.displaced));
    assert.deepEqual(sorted(decision.reprieved), sorted(tried.reprieved));
  }, 10_000);
});

test("no device is granted twice, and each claim gets exactly what it asked for", () => {
  holds((machine) => {
    const { grants } = allocate(machine);
    const granted = grants.flatMap((grant) => grant.deviceIds);
    assert.equal(new Set(granted).size, granted.length);
    assert.ok(granted.every((device) => machine.freeDevices.includes(device)));
    for (const grant of grants) {
      const wanted = machine.waiting.find((waiting) => waiting.instanceId === grant.instanceId);
      assert.equal(wanted?.deviceCount, grant.deviceIds.length);
    }
  });
});

test("on-demand is never evicted, and a bid only by a higher claim that waits", () => {
  holds((machine) => {
    const decision = allocate(machine);
    const helped = machine.waiting.filter((waiting) => decision.promised.includes(waiting.instanceId));
    for (const { instanceId, reason } of decision.displaced) {
      const victim = machine.holders.find((one) => one.instanceId === instanceId);
      assert.ok(victim?.isBid && !victim.isLeaving && !victim.isUnderNotice && victim.usableCount > 0);
      const above = helped.filter((waiting) => compareRank(waiting, victim) < 0);
      assert.ok(above.length > 0);
      if (victim.isBackground) assert.equal(reason, "background");
      else assert.ok(above.some((one) => (reason === "outbid" ? one.isBid : !one.isBid)));
    }
  });
});

test("the lowest leave first: an evicted holder is needed even when all below it leave too", () => {
  holds((machine) => {
    const decision = allocate({ ...machine, waiting: machine.waiting.slice(0, 1) });
    const [first] = machine.waiting;
    if (first === undefined) return;
    for (const victim of machine.holders.filter((one) => displacedIds(decision).includes(one.instanceId))) {
      const below = machine.holders.filter(
        (one) =>
          one.isBid && !one.isLeaving && compareRank(one, victim) > 0 && !(first.isBid && isSpared(one, machine)),
      );
      const leaving = machine.holders.filter((one) => one.isLeaving);
      const reach = [...below, ...leaving].reduce((all, one) => all + one.usableCount, machine.freeDevices.length);
      assert.ok(reach < first.deviceCount);
    }
  });
});

test("no holder is evicted whose devices help no claim: staying, it would keep a claim from running", () => {
  holds((machine) => {
    const decision = allocate(machine);
    const goneBy = ({ displaced, reprieved }: Allocation) => [
      ...displaced.map(({ instanceId }) => instanceId),
      ...machine.holders.filter((one) => one.isUnderNotice && !reprieved.includes(one.instanceId)).map(idOf),
    ];
    for (const id of displacedIds(decision)) {
      const without = allocate({
        ...machine,
        holders: machine.holders.map((one) => (one.instanceId === id ? { ...one, usableCount: 0 } : one)),
      });
      const served = ({ promised, grants }: Allocation) =>
        [...promised, ...grants.map((grant) => grant.instanceId)].toSorted((a, b) => a - b).join();
      const others = goneBy(without).filter((other) => !goneBy(decision).includes(other));
      assert.ok(served(without) !== served(decision) || others.length > 0, "somebody higher would have to go instead");
    }
  });
});

test("a resumed bid is safe from other bids for the minimum slice, and an evicted one waits that long", () => {
  holds((machine) => {
    const decision = allocate(machine);
    for (const { instanceId, reason } of decision.displaced) {
      const victim = machine.holders.find((one) => one.instanceId === instanceId);
      if (victim !== undefined && isSpared(victim, machine)) assert.notEqual(reason, "outbid");
    }
    const served = [...decision.promised, ...decision.grants.map((grant) => grant.instanceId)];
    for (const one of machine.waiting.filter((waiting) => isResting(waiting, machine))) {
      assert.ok(!served.includes(one.instanceId));
    }
  });
});

test("deciding again after the decision was carried out changes nothing, until the time that it names", () => {
  holds((machine) => {
    const first = allocate(machine);
    const next = carriedOut(machine, first);
    const untilMs = Math.min(first.reviewAtMs ?? NOW_MS + 1_000, NOW_MS + 1_000);
    for (const nowMs of [NOW_MS, untilMs - 1]) {
      const second = allocate({ ...next, nowMs });
      assert.deepEqual([second.grants, second.displaced, second.reprieved], [[], [], []], `at ${nowMs}`);
    }
    assert.ok(first.reviewAtMs === undefined || first.reviewAtMs > NOW_MS);
  });
});

test("the first in rank gets its devices when they are free, and is promised them when they can be freed", () => {
  holds((machine) => {
    const first = machine.waiting.filter((one) => !isResting(one, machine)).toSorted(compareRank)[0];
    if (first === undefined) return;
    const { grants, promised } = allocate(machine);
    const yielding = machine.holders.filter(
      (one) => one.isLeaving || (one.isBid && compareRank(first, one) < 0 && !(first.isBid && isSpared(one, machine))),
    );
    const reach = yielding.reduce((all, one) => all + one.usableCount, machine.freeDevices.length);
    if (first.deviceCount <= machine.freeDevices.length) assert.equal(grants[0]?.instanceId, first.instanceId);
    else assert.equal(promised[0] === first.instanceId, first.deviceCount <= reach);
  });
});

test("no claim waits that fits into free devices which are kept for no other claim", () => {
  holds((machine) => {
    const { grants, promised } = allocate(machine);
    const given = grants.reduce((all, grant) => all + grant.deviceIds.length, 0);
    const idle = promised.length > 0 ? 0 : machine.freeDevices.length - given;
    const served = new Set(grants.map((grant) => grant.instanceId));
    for (const one of machine.waiting) {
      if (!served.has(one.instanceId) && !isResting(one, machine)) assert.ok(one.deviceCount > idle);
    }
  });
});

test("a large claim is not starved by smaller ones of its price that keep coming after it", () => {
  const arrivals = fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 3 }), stays: fc.integer({ min: 1, max: 4 }) }),
    {
      minLength: 30,
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(arrivals, fc.boolean(), (steps, isBid) => {
      let nextId = 2;
      const make = (deviceCount: number, claimedAtMs: number): Claim => ({
        instanceId: asId<InstanceId>(nextId++),
        isBid: true,
        isBackground: false,
        priceNanosPerHour: BigInt(deviceCount),
        claimedAtMs,
        deviceCount,
        displacedAtMs: undefined,
      });
      const large: Claim = { ...make(4, 0), instanceId: asId<InstanceId>(1), isBid };
      const devices = [1, 2, 3, 4].map((id) => asId<DeviceId>(id));
      let running: { claim: Claim; deviceIds: readonly DeviceId[]; leavesAt: number }[] = [
        { claim: { ...make(3, -1), isBid: false }, deviceIds: devices.slice(0, 3), leavesAt: 5 },
      ];
      let waiting = [large];
      for (const [at, { size, stays }] of steps.entries()) {
        waiting.push(make(size, at + 1));
        running = running.filter((one) => one.leavesAt > at);
        const decision = allocate({
          freeDevices: devices.filter((id) => !running.some((one) => one.deviceIds.includes(id))),
          holders: running.map((one) => ({
            ...one.claim,
            isLeaving: false,
            isUnderNotice: false,
            usableCount: one.deviceIds.length,
            grantedAtMs: 0,
          })),
          waiting,
          nowMs: at,
          minSliceMs: 0,
        });
        const granted = new Map(decision.grants.map((grant) => [grant.instanceId, grant.deviceIds]));
        running = [
          ...running.filter((one) => !displacedIds(decision).includes(one.claim.instanceId)),
          ...waiting.flatMap((one) => {
            const deviceIds = granted.get(one.instanceId);
            return deviceIds === undefined ? [] : [{ claim: one, deviceIds, leavesAt: at + stays }];
          }),
        ];
        waiting = waiting.filter((one) => !granted.has(one.instanceId));
        if (granted.has(large.instanceId)) {
          assert.ok(at >= 5);
          return;
        }
      }
      assert.fail("it never ran");
    }),
  );
});

test("a host's own job never takes devices from a renter", () => {
  holds((machine) => {
    const isOwn = (one: Claim) => one.isBackground;
    const decision = allocate(machine);
    const alone = allocate({
      ...machine,
      holders: machine.holders.map((one) => (isOwn(one) ? { ...one, isLeaving: true } : one)),
      waiting: machine.waiting.filter((one) => !isOwn(one)),
    });
    const servedOf = ({ promised, grants }: Allocation) =>
      new Set([...promised, ...grants.map((grant) => grant.instanceId)]);
    const [served, servedAlone] = [servedOf(decision), servedOf(alone)];
    for (const one of machine.waiting.filter((other) => !isOwn(other))) {
      assert.equal(served.has(one.instanceId), servedAlone.has(one.instanceId));
    }
  });
});

test("offers are all multiples of the smallest slice, and all available devices", () => {
  assert.deepEqual(offerSizes(8, 1), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(offerSizes(7, 2), [2, 4, 6, 7]);
  assert.deepEqual(offerSizes(6, 2), [2, 4, 6]);
  assert.deepEqual(offerSizes(1, 1), [1]);
  assert.deepEqual(offerSizes(1, 2), []);
  assert.deepEqual(offerSizes(0, 1), []);
  assert.deepEqual(offerSizes(40, 1), [1, 2, 4, 8, 16, 32, 40]);
});
