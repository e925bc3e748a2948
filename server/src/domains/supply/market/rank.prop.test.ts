import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type DeviceId, type InstanceId } from "../../../base/ids.ts";
import { allocate, type Claim, type Holder, type MachineClaims } from "./rules/allocation.ts";
import { atPrice, rankOf } from "./rules/rank.ts";

const NOW_MS = 100;
const STEP = 1_000_000n;
const MIN_BID_PER_DEVICE = 2n * STEP;

const claim = fc.record({
  isBid: fc.constantFrom(true, true, true, false),
  isBackground: fc.constantFrom(false, false, false, true),
  steps: fc.integer({ min: 2, max: 12 }),
  claimedAtMs: fc.integer({ min: 0, max: 5 }),
  deviceCount: fc.integer({ min: 1, max: 3 }),
  displacedAtMs: fc.option(fc.integer({ min: 0, max: NOW_MS }), { nil: undefined, freq: 2 }),
});
type Drawn = typeof claim extends fc.Arbitrary<infer T> ? T : never;

function toClaim({ steps, ...drawn }: Drawn, id: number): Claim {
  const isBid = drawn.isBid || drawn.isBackground;
  return {
    ...drawn,
    isBid,
    instanceId: asId<InstanceId>(id),
    priceNanosPerHour: BigInt(steps) * STEP * (isBid ? BigInt(drawn.deviceCount) : 1n),
    displacedAtMs: isBid ? drawn.displacedAtMs : undefined,
  };
}

const machines: fc.Arbitrary<MachineClaims> = fc
  .record({
    freeCount: fc.integer({ min: 0, max: 2 }),
    holders: fc.array(
      fc.tuple(claim, fc.constantFrom("runs", "runs", "yields", "leaves"), fc.integer({ min: 0, max: NOW_MS })),
      { maxLength: 4 },
    ),
    waiting: fc.array(claim, { minLength: 1, maxLength: 4 }),
    minSliceMs: fc.constantFrom(0, 50),
  })
  .map(({ freeCount, holders, waiting, minSliceMs }) => ({
    freeDevices: Array.from({ length: freeCount }, (_, index) => asId<DeviceId>(index + 1)),
    holders: holders.map(([held, state, grantedAtMs], index): Holder => {
      const own = toClaim(held, 100 + index);
      const isUnderNotice = state === "yields" && own.isBid;
      return { ...own, isLeaving: state === "leaves", isUnderNotice, usableCount: own.deviceCount, grantedAtMs };
    }),
    waiting: waiting.map((wanted, index) => toClaim(wanted, 200 + index)),
    nowMs: NOW_MS,
    minSliceMs,
  }));

/** True when a claim of the machine runs, or goes on running, with its bid changed to this. */
function wouldRun(machine: MachineClaims, own: Claim, bid: bigint): boolean {
  const changed = atPrice(own, bid, machine.nowMs);
  const replace = <C extends Claim>(one: C): C => (one.instanceId === own.instanceId ? { ...one, ...changed } : one);
  const decision = allocate({
    ...machine,
    holders: machine.holders.map(replace),
    waiting: machine.waiting.map(replace),
  });
  const holder = machine.holders.find((one) => one.instanceId === own.instanceId);
  if (holder?.isUnderNotice === true) return decision.reprieved.includes(own.instanceId);
  if (holder !== undefined) return decision.displaced.every((one) => one.instanceId !== own.instanceId);
  const granted = decision.grants.map((grant) => grant.instanceId);
  return [...granted, ...decision.promised].includes(own.instanceId);
}

function ownersOf(machine: MachineClaims): readonly Claim[] {
  const holders = machine.holders.filter((one) => !one.isLeaving);
  return [...machine.waiting, ...holders].filter((one) => one.isBid && !one.isBackground);
}

test("the shown bid to run now runs, and no lower one does", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      for (const own of ownersOf(machine)) {
        const minBid = MIN_BID_PER_DEVICE * BigInt(own.deviceCount);
        const { bidToRunNanos: bid } = rankOf(machine, own, minBid);
        if (bid !== undefined) assert.ok(wouldRun(machine, own, bid), `${bid} does not run`);
        // One step less, and all lower round amounts.
        const below = bid === undefined ? 60n * STEP : bid - STEP;
        if (below >= minBid) assert.ok(!wouldRun(machine, own, below), `${below} runs as well`);
        for (let lower = minBid; lower < below; lower += STEP) {
          assert.ok(!wouldRun(machine, own, lower), `${lower} runs as well`);
        }
      }
    }),
    { numRuns: 3_000 },
  );
});

test("the lower bid is shown as enough where it stays and a higher one has to leave", () => {
  const holder = (instanceId: number, own: Partial<Holder>): Holder => ({
    instanceId: asId<InstanceId>(instanceId),
    isBid: true,
    isBackground: false,
    priceNanosPerHour: 2n * STEP,
    claimedAtMs: 0,
    deviceCount: 1,
    displacedAtMs: undefined,
    isLeaving: false,
    isUnderNotice: false,
    usableCount: 1,
    grantedAtMs: 0,
    ...own,
  });
  const own = holder(102, {});
  const machine: MachineClaims = {
    freeDevices: [],
    holders: [
      holder(100, { deviceCount: 2, usableCount: 2, priceNanosPerHour: 6n * STEP }),
      holder(101, { displacedAtMs: 0, grantedAtMs: 51 }),
      own,
    ],
    waiting: [holder(200, { priceNanosPerHour: 4n * STEP }), holder(201, { isBid: false })],
    nowMs: NOW_MS,
    minSliceMs: 50,
  };
  // The bid for two is outbid, and leaves one device over: the lowest, which makes room for on-demand, may stay for it.
  assert.deepEqual(
    [2n, 3n, 4n].map((steps) => wouldRun(machine, own, steps * STEP)),
    [true, false, true],
  );
  const { isServed, bidToRunNanos } = rankOf(machine, own, MIN_BID_PER_DEVICE);
  assert.deepEqual([isServed, bidToRunNanos], [true, 2n * STEP]);
});

test("a served claim is shown as served, and bids no less than needed", () => {
  fc.assert(
    fc.property(machines, (machine) => {
      for (const own of ownersOf(machine)) {
        const rank = rankOf(machine, own, MIN_BID_PER_DEVICE * BigInt(own.deviceCount));
        const runsNow = wouldRun(machine, own, own.priceNanosPerHour);
        assert.equal(rank.isServed, runsNow);
        if (runsNow) assert.ok((rank.bidToRunNanos ?? 0n) <= own.priceNanosPerHour);
        if (rank.isResting) assert.ok((rank.restsUntilMs ?? 0) > NOW_MS);
        if (rank.restsUntilMs !== undefined) assert.ok(!runsNow && machine.minSliceMs > 0);
        assert.ok(
          rank.aheadCount < machine.waiting.length || machine.holders.some((one) => one.instanceId === own.instanceId),
        );
      }
    }),
    { numRuns: 2_000 },
  );
});

test("when no bid is high enough because another has just resumed, the bid to beat and the end of its slice are shown", () => {
  let count = 0;
  fc.assert(
    fc.property(machines, (machine) => {
      for (const own of ownersOf(machine)) {
        const minBid = MIN_BID_PER_DEVICE * BigInt(own.deviceCount);
        const { isServed, isResting, bidToRunNanos, winningBidNanos, restsUntilMs } = rankOf(machine, own, minBid);
        if (isServed || isResting || bidToRunNanos !== undefined || winningBidNanos === undefined) continue;
        count += 1;
        assert.ok(restsUntilMs !== undefined && restsUntilMs > NOW_MS, `until ${restsUntilMs}`);
        const later = rankOf({ ...machine, nowMs: NOW_MS + machine.minSliceMs }, own, minBid);
        assert.ok((later.bidToRunNanos ?? 0n) > winningBidNanos);
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(count > 0);
});
