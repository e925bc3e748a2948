import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type WorkerGroupId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import {
  aGroup,
  anOffer,
  aSituation,
  aWorker,
  NOW_MS,
  steadyLoad,
} from "../../../../../../test/support/serverless/situations.ts";
import { decide } from "./decide.ts";
import type { Decision, GroupView, LoadSample, OfferView, Situation, WorkerView } from "./types.ts";

const groupId = fc.constantFrom(1, 2).map((id) => asId<WorkerGroupId>(id));
const price = fc.integer({ min: 1, max: 9 }).map((dimes) => nanos(BigInt(dimes) * 100_000_000n));
const perf = fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined });
const agoMs = fc.integer({ min: 0, max: 7_200_000 }).map((ms) => NOW_MS - ms);

const worker: fc.Arbitrary<WorkerView> = fc
  .record({
    groupId,
    phase: fc.constantFrom("ordered", "loading", "starting", "ready", "stopping", "stopped", "failed"),
    phaseSinceMs: agoMs,
    rentedAtMs: agoMs,
    claimedPerf: perf,
    observedPerf: perf,
    dlperf: fc.integer({ min: 0, max: 200 }),
    priceNanosPerHour: price,
    requestCount: fc.integer({ min: 0, max: 3 }),
    activeAtMs: fc.option(agoMs, { nil: undefined }),
    draining: fc.option(fc.record({ to: fc.constantFrom("stop", "destroy", "update"), sinceMs: agoMs }), {
      nil: undefined,
      freq: 4,
    }),
    isOutdated: fc.boolean(),
  })
  .map((each) => aWorker(0, { ...each, load: each.requestCount * 40 }));

const group: fc.Arbitrary<GroupView> = fc
  .record({
    coldWorkers: fc.integer({ min: 0, max: 6 }),
    maxWorkers: fc.integer({ min: 0, max: 8 }),
    testWorkers: fc.integer({ min: 0, max: 4 }),
    isUpdating: fc.boolean(),
    failureCount: fc.integer({ min: 0, max: 4 }),
    resumesAtMs: fc.option(
      fc.integer({ min: -60_000, max: 60_000 }).map((ms) => NOW_MS + ms),
      { nil: undefined },
    ),
    firstStartMs: fc.option(fc.integer({ min: 1_000, max: 600_000 }), { nil: undefined }),
    warmStartMs: fc.option(fc.integer({ min: 1_000, max: 90_000 }), { nil: undefined }),
  })
  .map((each) => aGroup(1, each));

const offer: fc.Arbitrary<OfferView> = fc
  .record({ groupId, dlperf: fc.integer({ min: 0, max: 200 }), priceNanosPerHour: price })
  .map((each) => anOffer(0, each));

const parameters: fc.Arbitrary<Partial<Situation["parameters"]>> = fc.record({
  state: fc.constantFrom("active", "active", "active", "suspended", "stopped"),
  minLoad: fc.constantFrom(0, 1, 10, 300),
  minColdLoad: fc.constantFrom(0, 500),
  targetUtil: fc.constantFrom(0.4, 0.9, 1),
  coldMult: fc.constantFrom(1, 2.5, 4),
  coldWorkers: fc.integer({ min: 0, max: 8 }),
  maxWorkers: fc.integer({ min: 1, max: 12 }),
  targetQueueTimeS: fc.constantFrom(undefined, 0, 2),
  inactivityTimeoutS: fc.constantFrom(undefined, -1, 0, 60),
});

const samples: fc.Arbitrary<LoadSample[]> = fc
  .record({ load: fc.integer({ min: 0, max: 3_000 }), seconds: fc.integer({ min: 0, max: 400 }) })
  .map(({ load, seconds }) => steadyLoad(load, { seconds }));

const situation: fc.Arbitrary<Situation> = fc
  .record({
    parameters,
    samples,
    workers: fc.array(worker, { maxLength: 14 }),
    groups: fc.array(group, { maxLength: 2 }),
    offers: fc.array(offer, { maxLength: 14 }),
    queue: fc.constantFrom(
      { requestCount: 0, load: 0, oldestMs: undefined },
      { requestCount: 7, load: 700, oldestMs: NOW_MS - 15_000 },
    ),
    spendingStop: fc.constantFrom(undefined, undefined, { untilMs: NOW_MS + 1, reason: "no credit is left" }),
  })
  .map((each) =>
    aSituation({
      ...each,
      workers: each.workers.map((one, index) => ({
        ...one,
        id: aWorker(index + 1).id,
        machineId: aWorker(index + 1).machineId,
      })),
      groups: each.groups.map((one, index) => ({ ...one, id: aGroup(index + 1).id })),
      offers: each.offers.map((one, index) => ({ ...one, ...identityOf(index + 1) })),
    }),
  );

function identityOf(id: number): Pick<OfferView, "offerId" | "machineId"> {
  const { offerId, machineId } = anOffer(id);
  return { offerId, machineId };
}

const rentCount = ({ actions }: Decision, groupId?: number) =>
  actions.filter((action) => action.kind === "rent" && (groupId === undefined || action.groupId === groupId)).length;

test("the orders of a decision never lead to more workers than an endpoint or a group allows", () => {
  fc.assert(
    fc.property(situation, (each) => {
      const decision = decide(each);
      if (rentCount(decision) === 0) return;
      assert.ok(each.workers.length + rentCount(decision) <= each.parameters.maxWorkers);
      for (const { id, maxWorkers } of each.groups) {
        const own = each.workers.filter((one) => one.groupId === id).length;
        const rented = rentCount(decision, id);
        assert.ok(rented === 0 || own + rented <= maxWorkers);
      }
    }),
    { numRuns: 500 },
  );
});

test("a worker with requests is never stopped, destroyed or updated, and drained only by an update or a stopped endpoint", () => {
  fc.assert(
    fc.property(situation, (each) => {
      const byId = new Map(each.workers.map((one) => [one.id, one]));
      for (const action of decide(each).actions) {
        if (action.kind === "rent") continue;
        const one = byId.get(action.workerId);
        assert.ok(one !== undefined);
        const isBusy = one.phase === "ready" && one.requestCount > 0;
        if (!isBusy) continue;
        assert.ok(action.kind === "drain" || action.kind === "undrain", action.kind);
        if (action.kind === "drain") assert.ok(action.to === "update" || each.parameters.state === "stopped");
      }
    }),
    { numRuns: 500 },
  );
});

test("every order fits the phase of its worker, and no worker gets two orders", () => {
  const phasesOf = {
    start: ["stopped"],
    undrain: ["ready"],
    drain: ["ready"],
    update: ["ready", "stopped"],
    stop: ["ready", "ordered", "loading", "starting"],
    destroy: ["ready", "stopped", "failed"],
  };
  fc.assert(
    fc.property(situation, (each) => {
      const seen = new Set<number>();
      for (const action of decide(each).actions) {
        const key = action.kind === "rent" ? -action.offerId : action.workerId;
        assert.ok(!seen.has(key), `two orders for ${key}`);
        seen.add(key);
        if (action.kind === "rent") continue;
        const phase = each.workers.find(({ id }) => id === action.workerId)?.phase ?? "";
        assert.ok(phasesOf[action.kind].includes(phase), `${action.kind} of a worker that is ${phase}`);
      }
    }),
    { numRuns: 500 },
  );
});

test("the same situation gives the same decision, in whole figures and words", () => {
  fc.assert(
    fc.property(situation, (each) => {
      const decision = decide(each);
      assert.deepEqual(decide(structuredClone(each)), decision);
      assert.ok(Object.values(decision.targets).every((figure) => Number.isFinite(figure) && figure >= 0));
      assert.match(decision.sentence, /^[A-Z].*\.$/);
      assert.doesNotMatch(decision.sentence, /undefined|NaN|Infinity/);
    }),
    { numRuns: 300 },
  );
});

test("more load never leads to fewer hot workers", () => {
  const hotAfter = (each: Situation) => {
    const { actions } = decide(each);
    const raised = actions.filter(({ kind }) => kind === "start" || kind === "undrain" || kind === "rent").length;
    return raised - actions.filter(({ kind }) => kind === "drain").length;
  };
  const calm = fc.record({
    readyCount: fc.integer({ min: 0, max: 6 }),
    stoppedCount: fc.integer({ min: 0, max: 6 }),
    load: fc.integer({ min: 0, max: 1_000 }),
    more: fc.integer({ min: 0, max: 1_000 }),
    seconds: fc.integer({ min: 1, max: 600 }),
  });
  fc.assert(
    fc.property(calm, ({ readyCount, stoppedCount, load, more, seconds }) => {
      const workers = Array.from({ length: readyCount + stoppedCount }, (_, index) =>
        aWorker(index + 1, { phase: index < readyCount ? "ready" : "stopped" }),
      );
      const under = (amount: number) =>
        hotAfter(
          aSituation({
            workers,
            offers: [],
            samples: steadyLoad(amount, { seconds }),
            parameters: { coldWorkers: 12 },
          }),
        );
      assert.ok(under(load + more) >= under(load));
    }),
    { numRuns: 300 },
  );
});

test("workers that all fail are rented a few times in an hour, however many are wanted", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 90 }), (testWorkers, failsAfterS) => {
      let workers: WorkerView[] = [];
      let [failureCount, resumesAtMs, rentedCount, lastId] = [0, 0, 0, 0];
      for (let second = 0; second < 3_600; second += 1) {
        const nowMs = NOW_MS + second * 1_000;
        const failed = workers.filter(({ phaseSinceMs }) => nowMs - phaseSinceMs >= failsAfterS * 1_000);
        workers = workers.filter((one) => !failed.includes(one));
        if (failed.length > 0) {
          failureCount += failed.length;
          resumesAtMs = nowMs + Math.min(3_600_000, 10_000 * 2 ** (failureCount - 1));
        }
        const groups = [
          aGroup(1, { testWorkers, failureCount, resumesAtMs, firstStartMs: undefined, warmStartMs: undefined }),
        ];
        const queue = { requestCount: 100, load: 9_999, oldestMs: nowMs - 60_000 };
        const decision = decide(aSituation({ nowMs, groups, workers, queue, parameters: { coldWorkers: 20 } }));
        for (let count = rentCount(decision); count > 0; count -= 1) {
          lastId += 1;
          rentedCount += 1;
          workers.push(
            aWorker(lastId, { phase: "loading", phaseSinceMs: nowMs, claimedPerf: undefined, warmStartMs: undefined }),
          );
        }
      }
      assert.ok(rentedCount >= 2 && rentedCount <= testWorkers + 10, `${rentedCount} were rented`);
    }),
    { numRuns: 4 },
  );
});
