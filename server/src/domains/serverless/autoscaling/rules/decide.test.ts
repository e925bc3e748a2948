import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type EndpointGroupId, type InstanceId, type WorkerGroupId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import {
  aGroup,
  anOffer,
  aSituation,
  aWorker,
  DOLLAR,
  NOW_MS,
  steadyLoad,
} from "../../../../../../test/support/serverless/situations.ts";
import { decide } from "./decide.ts";
import type { Action, Decision } from "./types.ts";

const of = (decision: Decision, kind: Action["kind"]) => decision.actions.filter((action) => action.kind === kind);
const idsOf = (decision: Decision, kind: Action["kind"]) =>
  of(decision, kind).flatMap((action) => (action.kind === "rent" ? [] : [Number(action.workerId)]));
const offersOf = (decision: Decision) =>
  decision.actions.flatMap((action) => (action.kind === "rent" ? [Number(action.offerId)] : []));
const stopped = (id: number) => aWorker(id, { phase: "stopped" });
const busy = { load: 50, requestCount: 2, activeAtMs: NOW_MS };

test("an endpoint without minimums and without traffic costs nothing and says so", () => {
  const decision = decide(aSituation());
  assert.deepEqual(decision.actions, []);
  assert.equal(decision.reason, "asleep");
  assert.match(decision.sentence, /^No load is expected; no worker is running\.$/);
});

test("the hot target is the expected load divided by target_util; its minimum is not divided", () => {
  const workers = [aWorker(1), aWorker(2), ...[3, 4, 5].map(stopped)];
  const loaded = decide(aSituation({ workers, samples: steadyLoad(270) }));
  assert.equal(Math.round(loaded.targets.hotTarget), 300);
  assert.deepEqual(idsOf(loaded, "start"), [3]);
  assert.equal(loaded.reason, "scale_up");
  assert.match(
    loaded.sentence,
    /1 worker is started from stopped \(ready in about 20 s\), 2 workers are rented \(each serves most/,
  );
  const minimum = decide(aSituation({ workers, parameters: { minLoad: 200 } }));
  assert.equal(minimum.targets.hotTarget, 200);
  assert.deepEqual(idsOf(minimum, "start"), []);
});

test("a min_load of 1 keeps one worker hot, and without it the endpoint sleeps", () => {
  const warm = decide(aSituation({ workers: [stopped(1)], parameters: { minLoad: 1 } }));
  assert.deepEqual(idsOf(warm, "start"), [1]);
  const idle = decide(aSituation({ workers: [aWorker(1)], parameters: { coldWorkers: 1 } }));
  assert.deepEqual(of(idle, "drain"), [{ kind: "drain", workerId: 1, to: "stop", why: "there is nothing to do" }]);
});

test("a load that jumps is answered within the same second", () => {
  const samples = steadyLoad(400, { seconds: 5 });
  const decision = decide(aSituation({ workers: [aWorker(1), ...[2, 3, 4].map(stopped)], samples }));
  assert.ok(idsOf(decision, "start").length > 0);
});

test("one heavy request never calls for more than one worker", () => {
  const samples = [{ secondMs: NOW_MS, requestCount: 1, load: 100_000, waitedCount: 0, waitMsMax: 0 }];
  const decision = decide(
    aSituation({
      workers: [aWorker(1, { ...busy, requestCount: 1 }), stopped(2)],
      samples,
      parameters: { coldMult: 2 },
    }),
  );
  assert.deepEqual(decision.actions, []);
});

test("a held request calls for another worker, and workers on their way are counted", () => {
  const queue = { requestCount: 1, load: 1, oldestMs: NOW_MS };
  const workers = [aWorker(1, busy), stopped(2), stopped(3)];
  assert.deepEqual(idsOf(decide(aSituation({ workers, queue })), "start"), [2]);
  const isComing = [aWorker(1, busy), aWorker(2, { phase: "starting", phaseSinceMs: NOW_MS }), stopped(3)];
  assert.deepEqual(decide(aSituation({ workers: isComing, queue })).actions, []);
  assert.deepEqual(idsOf(decide(aSituation({ workers: [stopped(2)], queue })), "start"), [2]);
});

test("a wait beyond the target queue time doubles the added capacity", () => {
  const workers = [aWorker(1, busy), ...[2, 3, 4, 5, 6].map(stopped)];
  const asked = (waitedMs: number, targetQueueTimeS: number | undefined) => {
    const queue = { requestCount: 50, load: 2_000, oldestMs: NOW_MS - waitedMs };
    return idsOf(decide(aSituation({ workers, queue, parameters: { targetQueueTimeS } })), "start").length;
  };
  assert.equal(asked(1_000, undefined), 2);
  assert.equal(asked(11_000, undefined), 4);
  assert.equal(asked(11_000, 20), 1);
});

test("draining workers are taken back before others are started, and stopped ones start before any is rented", () => {
  const draining = { to: "stop", sinceMs: NOW_MS - 5_000 } as const;
  const workers = [aWorker(1, busy), aWorker(2, { draining }), stopped(3)];
  const decision = decide(aSituation({ workers, samples: steadyLoad(340), parameters: { coldMult: 1 } }));
  assert.deepEqual(
    decision.actions.map(({ kind }) => kind),
    ["undrain", "start", "rent"],
  );
});

test("the pool of stopped workers is cold_mult times the load, or the minimums, whichever is more", () => {
  const workers = [aWorker(1, busy)];
  const rents = (parameters: object, load: number) =>
    offersOf(decide(aSituation({ workers, samples: steadyLoad(load), parameters }))).length;
  assert.equal(rents({ coldMult: 2.5 }, 80), 1);
  assert.equal(rents({ coldMult: 4 }, 80), 3);
  assert.equal(rents({ coldMult: 1, minColdLoad: 450 }, 80), 4);
  assert.equal(rents({ coldMult: 1, coldWorkers: 6 }, 80), 5);
});

test("before any measurement a group gets its test workers and no more, at any load", () => {
  const groups = [aGroup(1, { firstStartMs: undefined, warmStartMs: undefined })];
  const first = decide(aSituation({ groups, samples: steadyLoad(5_000, { seconds: 10 }) }));
  assert.equal(offersOf(first).length, 3);
  assert.equal(first.reason, "learning");
  const loading = [1, 2, 3].map((id) =>
    aWorker(id, { phase: "loading", claimedPerf: undefined, warmStartMs: undefined }),
  );
  const later = decide(aSituation({ groups, workers: loading, samples: steadyLoad(5_000, { seconds: 10 }) }));
  assert.deepEqual([later.actions, later.reason], [[], "learning"]);
});

test("an unmeasured worker is judged by its dlperf, in the ratio of measured ones", () => {
  const workers = [aWorker(1), aWorker(2, { claimedPerf: undefined, dlperf: 25 })];
  const { targets } = decide(aSituation({ workers }));
  assert.equal(targets.hotPerf, 150);
});

test("a claim that was contradicted by measurement does not count", () => {
  const { targets } = decide(aSituation({ workers: [aWorker(1, { claimedPerf: 1_000, observedPerf: 80 })] }));
  assert.equal(targets.hotPerf, 80);
  const honest = decide(aSituation({ workers: [aWorker(1, { claimedPerf: 100, observedPerf: 80 })] }));
  assert.equal(honest.targets.hotPerf, 100);
});

test("recruits are taken by reliable performance for their price, one from each machine", () => {
  const machineId = anOffer(3).machineId;
  const offers = [
    anOffer(1, { priceNanosPerHour: nanos(2_000_000_000n) }),
    anOffer(2, { reliability: 0.5 }),
    anOffer(3),
    anOffer(4, { machineId }),
    anOffer(5, { dlperf: 200, priceNanosPerHour: nanos(3_000_000_000n) }),
  ];
  const situation = aSituation({ offers, workers: [aWorker(1)], parameters: { coldWorkers: 5 } });
  assert.deepEqual(offersOf(decide(situation)), [5, 3, 2, 1]);
});

test("max_workers of endpoint and group hold, workers in any phase counted", () => {
  const phases = ["ordered", "failed", "stopping", "stopped"] as const;
  const workers = phases.map((phase, index) => aWorker(index + 1, { phase }));
  const rents = (maxWorkers: number, ofGroup: number) => {
    const groups = [aGroup(1, { maxWorkers: ofGroup })];
    return decide(aSituation({ workers, groups, samples: steadyLoad(5_000), parameters: { maxWorkers } }));
  };
  assert.equal(offersOf(rents(6, 20)).length, 2);
  assert.equal(offersOf(rents(20, 5)).length, 1);
  assert.equal(offersOf(rents(4, 20)).length, 0);
  assert.match(
    decide(aSituation({ workers: [aWorker(1, busy)], samples: steadyLoad(5_000), parameters: { maxWorkers: 1 } }))
      .sentence,
    /more are needed, but max_workers of the endpoint \(1\) or of its group allows no more\.$/,
  );
});

test("a worker with requests is never drained for its cost, and of idle ones the least valuable goes first", () => {
  const dear = { priceNanosPerHour: nanos(9_000_000_000n) };
  const workers = [aWorker(1, { ...busy, ...dear }), aWorker(2), aWorker(3, dear)];
  const decision = decide(
    aSituation({ workers, samples: steadyLoad(150), parameters: { coldMult: 1, coldWorkers: 3 } }),
  );
  assert.deepEqual(idsOf(decision, "drain"), [3]);
  const allBusy = workers.map((worker) => ({ ...worker, ...busy }));
  assert.deepEqual(decide(aSituation({ workers: allBusy, samples: steadyLoad(50), offers: [] })).actions, []);
});

test("no worker is released within a minute after one became ready", () => {
  const workers = [aWorker(1), aWorker(2, { phaseSinceMs: NOW_MS - 59_000 })];
  assert.deepEqual(decide(aSituation({ workers, parameters: { coldWorkers: 2 } })).actions, []);
});

test("a draining worker is put away once it has no request left, and not before its last one could have arrived", () => {
  const since = (ms: number) => ({ to: "stop", sinceMs: NOW_MS - ms }) as const;
  const workers = [
    aWorker(1, { draining: since(2_000) }),
    aWorker(2, { draining: since(1_999) }),
    aWorker(3, { draining: since(60_000), ...busy }),
  ];
  assert.deepEqual(idsOf(decide(aSituation({ workers, parameters: { coldWorkers: 3 } })), "stop"), [1]);
});

test("after a failure nothing is rented until the pause is over, and then one worker until one is ready", () => {
  const minimum = { parameters: { coldWorkers: 4, minLoad: 1 }, workers: [aWorker(1)] };
  const group = (resumesInMs: number) => [aGroup(1, { failureCount: 3, resumesAtMs: NOW_MS + resumesInMs })];
  const pausing = decide(aSituation({ ...minimum, groups: group(40_000) }));
  assert.deepEqual([pausing.actions, pausing.reason], [[], "backing_off"]);
  assert.match(pausing.sentence, /nothing is rented for 40 s, as 3 workers in a row failed/);
  assert.equal(offersOf(decide(aSituation({ ...minimum, groups: group(0) }))).length, 1);
  const tried = [aWorker(1), aWorker(2, { phase: "loading" })];
  assert.equal(offersOf(decide(aSituation({ ...minimum, workers: tried, groups: group(0) }))).length, 0);
});

test("a failed worker is destroyed in every state of the endpoint", () => {
  for (const state of ["active", "suspended", "stopped"] as const) {
    const workers = [aWorker(1, { phase: "failed", failure: "out of memory" })];
    const decision = decide(aSituation({ workers, parameters: { state } }));
    assert.deepEqual(decision.actions, [{ kind: "destroy", workerId: 1, why: "it failed: out of memory" }]);
  }
});

test("a suspended endpoint is left as it is, and a stopped one is made inactive without cutting off requests", () => {
  const workers = [aWorker(1, busy), aWorker(2), aWorker(3, { phase: "loading" }), stopped(4)];
  const samples = steadyLoad(5_000);
  assert.deepEqual(decide(aSituation({ workers, samples, parameters: { state: "suspended" } })).actions, []);
  const halted = decide(aSituation({ workers, samples, parameters: { state: "stopped" } }));
  assert.deepEqual(idsOf(halted, "drain"), [1, 2]);
  assert.deepEqual(idsOf(halted, "stop"), [3]);
  assert.deepEqual(offersOf(halted), []);
});

test("without money nothing is rented or started, and draining workers are taken back", () => {
  const spendingStop = { untilMs: NOW_MS + 60_000, reason: "the cap of the endpoint is reached" };
  const draining = { to: "stop", sinceMs: NOW_MS } as const;
  const workers = [aWorker(1, busy), aWorker(2, { draining }), stopped(3)];
  const decision = decide(aSituation({ workers, samples: steadyLoad(900), spendingStop }));
  assert.deepEqual(
    decision.actions.map(({ kind }) => kind),
    ["undrain"],
  );
  assert.equal(decision.reason, "spending_stopped");
  assert.match(decision.sentence, /the cap of the endpoint is reached/);
});

test("the market is not searched where nothing could be rented anyway", () => {
  const isLookedAt = (overrides: Parameters<typeof aSituation>[0]) => {
    const situation = aSituation({ workers: [aWorker(1, busy)], samples: steadyLoad(5_000), ...overrides });
    let count = 0;
    const { offers } = situation;
    decide(Object.defineProperty(situation, "offers", { get: () => ((count += 1), offers) }));
    return count > 0;
  };
  assert.ok(isLookedAt({}));
  assert.ok(!isLookedAt({ parameters: { maxWorkers: 1 } }));
  assert.ok(!isLookedAt({ groups: [aGroup(1, { failureCount: 1, resumesAtMs: NOW_MS + 1 })] }));
  assert.ok(!isLookedAt({ spendingStop: { untilMs: NOW_MS + 1, reason: "no credit is left" } }));
  assert.ok(!isLookedAt({ samples: [], parameters: { minLoad: 1 } }));
});

test("a clearly better offer replaces the worst worker, one at a time and not before that one proved itself", () => {
  const workers = [aWorker(1), aWorker(2, { priceNanosPerHour: nanos(4_000_000_000n) })];
  const calm = {
    endpointId: asId<EndpointGroupId>(60),
    workers,
    offers: [anOffer(1)],
    parameters: { coldWorkers: 2, minLoad: 200, coldMult: 1 },
  };
  const decision = decide(aSituation(calm));
  assert.deepEqual([offersOf(decision), decision.reason], [[1], "replacing"]);
  assert.match(decision.sentence, /serves 4\.0 times as much for its price as worker 2/);
  const dearer = [anOffer(1, { priceNanosPerHour: nanos(3_000_000_000n) })];
  assert.deepEqual(decide(aSituation({ ...calm, offers: dearer })).actions, []);
  const recent = [workers[0]!, { ...workers[1]!, rentedAtMs: NOW_MS - 60_000 }];
  assert.deepEqual(decide(aSituation({ ...calm, workers: recent })).actions, []);
  const replaced = [...workers, aWorker(3)];
  assert.deepEqual(idsOf(decide(aSituation({ ...calm, workers: replaced })), "drain"), [2]);
});

test("an update takes stopped workers first, then active ones as long as the others carry the load", () => {
  const groups = [aGroup(1, { isUpdating: true })];
  const old = { isOutdated: true };
  const first = decide(
    aSituation({ groups, workers: [aWorker(1, { ...old, ...busy }), aWorker(2, { ...old, phase: "stopped" })] }),
  );
  assert.deepEqual(
    first.actions.map(({ kind }) => kind),
    ["update"],
  );
  const eight = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => aWorker(id, { ...old, ...busy }));
  assert.equal(of(decide(aSituation({ groups, workers: eight, samples: steadyLoad(500) })), "drain").length, 2);
  const tight = decide(aSituation({ groups, workers: eight, samples: steadyLoad(710), parameters: { coldMult: 1 } }));
  assert.deepEqual(
    tight.actions.map(({ kind }) => kind),
    ["rent"],
  );
  const alone = aSituation({ groups, workers: [aWorker(1, { ...old, ...busy }), stopped(2)], samples: steadyLoad(50) });
  assert.deepEqual(idsOf(decide(alone), "start"), [2]);
  const away = aWorker(1, { ...old, draining: { to: "update", sinceMs: NOW_MS - 3_000 } });
  assert.deepEqual(idsOf(decide(aSituation({ groups, workers: [away, aWorker(2)] })), "update"), [1]);
});

test("groups that are updated at the same time share the spare capacity, and one stand-in", () => {
  const second = asId<WorkerGroupId>(2);
  const groups = [aGroup(1, { isUpdating: true }), aGroup(2, { isUpdating: true })];
  const workers = [aWorker(1, { isOutdated: true }), aWorker(2, { isOutdated: true, groupId: second })];
  const carried = decide(aSituation({ groups, workers, samples: steadyLoad(80), offers: [] }));
  assert.deepEqual(idsOf(carried, "drain"), [1]);
  const tight = decide(aSituation({ groups, workers, samples: steadyLoad(150), parameters: { coldMult: 1 } }));
  assert.deepEqual(offersOf(tight), [1]);
  assert.deepEqual(idsOf(tight, "drain"), []);
});

test("a worker that is rented for another reason also stands in: no second one is rented, and none beyond the limit", () => {
  const groups = [aGroup(1, { isUpdating: true, maxWorkers: 1 }), aGroup(2, { maxWorkers: 1, testWorkers: 0 })];
  const offers = [anOffer(1, { groupId: asId<WorkerGroupId>(2) })];
  const parameters = { coldWorkers: 2, maxWorkers: 2 };
  const workers = [aWorker(1, { isOutdated: true, ...busy })];
  const decision = decide(aSituation({ groups, workers, offers, parameters }));
  assert.deepEqual(
    decision.actions.map(({ kind }) => kind),
    ["rent"],
  );
});

test("no more workers are kept than max_workers, however many cold_workers are asked for", () => {
  const offers = [1, 2, 3, 4].map((id) => anOffer(id));
  const parameters = { coldWorkers: 5, maxWorkers: 2 };
  assert.equal(offersOf(decide(aSituation({ offers, parameters }))).length, 2);
  const workers = [aWorker(1), aWorker(2)];
  assert.deepEqual(offersOf(decide(aSituation({ offers, workers, parameters }))), []);
});

test("each group first gets its own minimum from whichever offers it has", () => {
  const groups = [aGroup(1, { coldWorkers: 1 }), aGroup(2, { coldWorkers: 2 })];
  const workers = [aWorker(1, { groupId: asId<WorkerGroupId>(1) })];
  const offers = [
    anOffer(1),
    anOffer(2),
    ...[3, 4].map((id) => anOffer(id, { groupId: asId<WorkerGroupId>(2), dlperf: 5 })),
  ];
  const decision = decide(
    aSituation({
      groups: groups.map((group) => ({ ...group, testWorkers: 2 })),
      workers,
      offers,
      parameters: { coldWorkers: 3 },
    }),
  );
  assert.deepEqual(offersOf(decision), [3, 4]);
});

test("an endpoint without a group, or without an offer, says what is missing", () => {
  const queue = { requestCount: 3, load: 30, oldestMs: NOW_MS };
  assert.match(
    decide(aSituation({ queue, groups: [] })).sentence,
    /3 requests wait for a worker, but .* has no worker group/,
  );
  assert.match(decide(aSituation({ queue, offers: [] })).sentence, /no offer matches the search/);
});

test("stopped workers that are not needed go one after the other down to the minimum, the least valuable first", () => {
  const workers = [1, 2, 3].map((id) =>
    aWorker(id, { phase: "stopped", priceNanosPerHour: nanos(BigInt(id) * DOLLAR) }),
  );
  const decision = decide(aSituation({ workers, parameters: { coldWorkers: 1 } }));
  assert.deepEqual(
    idsOf(decision, "destroy"),
    [3, 2].map((id) => asId<InstanceId>(id)),
  );
});

test("workers above a lowered max_workers are let go without cutting off requests, even under load", () => {
  const workers = [aWorker(1, busy), aWorker(2), stopped(3), stopped(4)];
  const samples = steadyLoad(5_000);
  const decision = decide(aSituation({ workers, samples, parameters: { maxWorkers: 2, coldWorkers: 0 } }));
  assert.deepEqual(idsOf(decision, "start").length + idsOf(decision, "destroy").length, 2);
  const hot = decide(aSituation({ workers: [aWorker(1, busy), aWorker(2)], samples, parameters: { maxWorkers: 1 } }));
  assert.deepEqual(of(hot, "drain"), [{ kind: "drain", workerId: 2, to: "destroy", why: "max_workers was lowered" }]);
});
