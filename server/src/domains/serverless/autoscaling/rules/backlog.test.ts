import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aSituation, aWorker, NOW_MS, steadyLoad } from "../../../../../../test/support/serverless/situations.ts";
import { catchUpCapacity } from "./backlog.ts";
import { decide } from "./decide.ts";
import type { Action, Decision } from "./types.ts";

/** The capacity that two workers of 100 units/s need to catch up, under a load that began this many seconds ago. */
function catchUp(load: number, { seconds, loadAtHand = Infinity }: { seconds: number; loadAtHand?: number }): number {
  const facts = { nowMs: NOW_MS, startMs: 20_000, arriving: load, capacity: 200, workerPerf: 100, loadAtHand };
  return catchUpCapacity(steadyLoad(load, { seconds }), facts);
}

test("a load that is served leaves nothing to make up for, however long it lasts", () => {
  for (const seconds of [1, 30, 300, 3_000]) assert.equal(catchUp(190, { seconds }), 0);
});

test("the capacity to catch up grows with the time that load exceeds capacity, before any request is held", () => {
  const [soon, later, long] = [3, 10, 60].map((seconds) => catchUp(300, { seconds }));
  assert.ok(soon !== undefined && later !== undefined && long !== undefined);
  assert.ok(soon > 300 && later > soon && long > later, `${soon}, ${later}, ${long}`);
});

test("a backlog that is worked off before a further worker would be ready calls for no worker", () => {
  const samples = steadyLoad(1_500, { seconds: 1 });
  const facts = { nowMs: NOW_MS, capacity: 200, workerPerf: 100, loadAtHand: 1_400, arriving: 75 };
  assert.equal(catchUpCapacity(samples, { ...facts, startMs: 20_000 }), 0);
  assert.ok(catchUpCapacity(samples, { ...facts, startMs: 2_000 }) > 200);
});

test("finished requests, and requests that merely take long, are no backlog", () => {
  assert.equal(catchUp(300, { seconds: 60, loadAtHand: 0 }), 0);
  // Each request takes a worker twenty seconds: much work is at hand, and no request waits.
  const long = steadyLoad(150, { seconds: 300 }).map((sample, second) =>
    second % 15 === 0 ? { ...sample, requestCount: 1, load: 2_000 } : { ...sample, requestCount: 0, load: 0 },
  );
  const facts = { nowMs: NOW_MS, startMs: 20_000, arriving: 133, capacity: 200, workerPerf: 100, loadAtHand: 4_000 };
  assert.equal(catchUpCapacity(long, facts), 0);
});

test("the capacity to catch up is 0 while no worker serves, or none was measured", () => {
  const facts = { nowMs: NOW_MS, startMs: 20_000, arriving: 900, loadAtHand: 9_000 };
  assert.equal(catchUpCapacity(steadyLoad(900), { ...facts, capacity: 0, workerPerf: 100 }), 0);
  assert.equal(catchUpCapacity(steadyLoad(900), { ...facts, capacity: 100, workerPerf: undefined }), 0);
});

const countOf = ({ actions }: Decision, kind: Action["kind"]) =>
  actions.filter((action) => action.kind === kind).length;

test("workers that fall behind are joined by as many stopped ones as catch up, and none is rented for that", () => {
  const samples = steadyLoad(190, { seconds: 30 });
  const workers = [
    { load: 3_500, requestCount: 180, activeAtMs: NOW_MS },
    { load: 100, requestCount: 5 },
  ].map((work, index) => aWorker(index + 1, { ...work, claimedPerf: 60 }));
  const spare = [3, 4, 5, 6, 7, 8, 9, 10].map((id) => aWorker(id, { phase: "stopped", claimedPerf: 60 }));
  const behind = decide(aSituation({ workers: [...workers, ...spare], samples, parameters: { coldMult: 1 } }));
  assert.ok(countOf(behind, "start") > 4, behind.sentence);
  assert.equal(countOf(behind, "rent"), 0);
  assert.match(behind.sentence, /is expected and the workers fall behind, so \d+ units\/s are needed; 2 workers serve/);
  const alone = decide(aSituation({ workers, samples, parameters: { coldMult: 1 } }));
  assert.ok(countOf(alone, "rent") < countOf(behind, "start"), alone.sentence);
  assert.doesNotMatch(alone.sentence, /fall behind/);
});

test("the work that draining workers still finish is no backlog of the others", () => {
  const samples = [...steadyLoad(270, { seconds: 300 }).slice(0, 240), ...steadyLoad(150, { seconds: 60 })];
  const leaving = { draining: { to: "stop", sinceMs: NOW_MS }, load: 2_000, requestCount: 100 } as const;
  const workers = [
    ...[1, 2].map((id) => aWorker(id, { load: 90, requestCount: 5, activeAtMs: NOW_MS, claimedPerf: 90 })),
    aWorker(3, { ...leaving, claimedPerf: 90 }),
  ];
  const parked = aWorker(4, { phase: "stopped", claimedPerf: 90 });
  const sentenceOf = (all: typeof workers) => decide(aSituation({ workers: [...all, parked], samples })).sentence;
  assert.doesNotMatch(sentenceOf(workers), /fall behind/);
  const loaded = aWorker(1, { ...leaving, draining: undefined, claimedPerf: 90 });
  assert.match(sentenceOf([loaded, ...workers.slice(1)]), /fall behind/);
});

test("more workers never leave more to start beyond them", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 10 }),
      (load, seconds, count) => {
        const extra = (workers: number) => {
          const facts = { nowMs: NOW_MS, startMs: 20_000, arriving: load, workerPerf: 100, loadAtHand: Infinity };
          const capacity = 100 * workers;
          return Math.max(0, catchUpCapacity(steadyLoad(load, { seconds }), { ...facts, capacity }) - capacity);
        };
        assert.ok(extra(count + 1) <= extra(count));
      },
    ),
    { numRuns: 200 },
  );
});
