import assert from "node:assert/strict";
import { test } from "node:test";
import { aSituation, aWorker, NOW_MS, steadyLoad } from "../../../../../../test/support/serverless/situations.ts";
import { decide } from "./decide.ts";
import type { Action, Decision } from "./types.ts";

const countOf = ({ actions }: Decision, kind: Action["kind"]) =>
  actions.filter((action) => action.kind === kind).length;

test("an endpoint stays warm for its inactivity timeout, and always with a negative one", () => {
  const drains = (inactivityTimeoutS: number, quietMs: number) => {
    const workers = [aWorker(1, { activeAtMs: NOW_MS - quietMs })];
    return countOf(decide(aSituation({ workers, parameters: { inactivityTimeoutS, coldWorkers: 1 } })), "drain");
  };
  assert.deepEqual(
    [drains(600, 599_000), drains(600, 600_000), drains(-1, 86_400_000), drains(0, 60_000)],
    [0, 1, 0, 1],
  );
});

test("a worker that drains after the timeout is not called back by earlier traffic while it may still have a request", () => {
  const draining = { to: "stop", sinceMs: NOW_MS } as const;
  const workers = [aWorker(1, { draining, requestCount: 1 }), aWorker(2, { draining, requestCount: 1 })];
  const samples = steadyLoad(150, { seconds: 60 }).map((sample) => ({ ...sample, secondMs: sample.secondMs - 90_000 }));
  const decision = decide(aSituation({ workers, samples, parameters: { inactivityTimeoutS: 60 } }));
  assert.deepEqual(decision.actions, []);
  const atWork = workers.map((worker) => ({ ...worker, load: 10 }));
  const needed = decide(aSituation({ workers: atWork, samples, parameters: { inactivityTimeoutS: 60 } }));
  assert.ok(countOf(needed, "undrain") > 0);
});

test("the first request after a quiet spell starts one worker, and stopped workers are kept for that", () => {
  const workers = [1, 2, 3].map((id) => aWorker(id, { phase: "stopped", activeAtMs: NOW_MS - 400_000 }));
  const before = steadyLoad(250, { seconds: 600 }).map((one) => ({ ...one, secondMs: one.secondMs - 400_000 }));
  const first = { secondMs: NOW_MS, requestCount: 1, load: 20, waitedCount: 0, waitMsMax: 0 };
  const queue = { requestCount: 1, load: 20, oldestMs: NOW_MS };
  const kindsAfter = (samples: typeof before) =>
    decide(aSituation({ workers, samples, queue, parameters: { coldMult: 1 } })).actions.map(({ kind }) => kind);
  assert.deepEqual(kindsAfter([...before, first]), ["start"]);
  assert.deepEqual(kindsAfter(before), ["start"], "before its traffic is stored");
  const burst = steadyLoad(250, { seconds: 20 }).map((one) => ({ ...one, secondMs: one.secondMs - 5_000 }));
  const waiting = { requestCount: 9, load: 180, oldestMs: NOW_MS - 5_000 };
  const parameters = { coldMult: 1, inactivityTimeoutS: 5 };
  const still = decide(aSituation({ workers, samples: burst, queue: waiting, parameters }));
  assert.equal(countOf(still, "start"), 3, "a burst that waits is not forgotten");
  const unquiet = steadyLoad(250, { seconds: 600 }).map((one) => ({ ...one, secondMs: one.secondMs - 200_000 }));
  assert.deepEqual(kindsAfter([...unquiet, first]), ["start", "start", "start"]);
});
