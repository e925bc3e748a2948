import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { EndpointRouter, type Assignment, type RouterSettings } from "./endpoint-router.ts";
import { RequestNumbers } from "./request-numbers.ts";
import type { RoutableWorker } from "./routed-request.ts";

const NOW = 1_700_000_000_000;
const [ONE, TWO] = [asId<InstanceId>(1), asId<InstanceId>(2)];
const SETTINGS: RouterSettings = { maxQueueTimeMs: 30_000, silentAfterMs: 25_000, targetUtil: 0.9 };

const aWorker = (id: InstanceId, changes: Partial<RoutableWorker> = {}): RoutableWorker => ({
  id,
  url: `http://192.0.2.${id}:3000`,
  perf: 100,
  isReady: true,
  isDraining: false,
  isOutdated: false,
  report: { atMs: NOW, load: 0, count: 0 },
  ...changes,
});

function aRouter(workers: readonly RoutableWorker[], settings: Partial<RouterSettings> = {}) {
  const called: Assignment[] = [];
  const router = new EndpointRouter(
    { ...SETTINGS, ...settings },
    { numbers: RequestNumbers.unlimited(), onGiven: (assignment) => void called.push(assignment) },
  );
  router.setWorkers(workers, NOW);
  const ask = (cost: number, requestIdx = 0, nowMs = NOW) =>
    router.route({ requestIdx, cost, replayTimeoutMs: 60_000 }, nowMs);
  const sent = (cost: number, requestIdx = 0, nowMs = NOW): Assignment => {
    const answer = ask(cost, requestIdx, nowMs);
    assert.ok(answer.kind === "given", answer.kind);
    return answer.assignment;
  };
  const held = (cost: number, requestIdx = 0, nowMs = NOW): number => {
    const answer = ask(cost, requestIdx, nowMs);
    assert.ok(answer.kind === "held", answer.kind);
    return answer.requestIdx;
  };
  return { router, called, ask, sent, held };
}

test("a request goes to the worker that will be done with it first, even if that worker is slower", () => {
  const { sent } = aRouter([aWorker(ONE, { perf: 10 }), aWorker(TWO, { perf: 100 })]);
  assert.equal(sent(500).workerId, TWO, "5 s against 50");
  assert.equal(sent(10).workerId, ONE, "1 s against 5.1");
  assert.equal(sent(100).workerId, TWO, "6.1 s against 11");
});

test("request numbers rise by request, and reqnum by worker", () => {
  const { sent } = aRouter([aWorker(ONE), aWorker(TWO)]);
  const [first, second, third] = [sent(10), sent(20), sent(10)];
  assert.deepEqual(
    [first, second, third].map((one) => [one.requestIdx, one.workerId]),
    [
      [1, ONE],
      [2, TWO],
      [3, ONE],
    ],
  );
  assert.ok(third.reqnum > first.reqnum && Number.isSafeInteger(third.reqnum));
  const again = sent(10, third.requestIdx);
  assert.deepEqual([again.workerId, again.reqnum > second.reqnum], [TWO, true], "also of one that comes back");
});

test("two servers never give a worker the same reqnum, and it rises across both servers", () => {
  const servers = [1, 2, 3].map((block) => {
    const numbers = new RequestNumbers();
    numbers.add(block * 2_000, block * 2_000 + 2_000);
    const router = new EndpointRouter({ ...SETTINGS, maxQueueTimeMs: 1e9 }, { numbers, onGiven: () => {} });
    router.setWorkers([aWorker(ONE)], NOW);
    return router;
  });
  const give = (server: number, nowMs: number): number => {
    const answer = servers[server]?.route({ requestIdx: 0, cost: 1, replayTimeoutMs: 60_000 }, nowMs);
    assert.ok(answer?.kind === "given");
    return answer.assignment.reqnum;
  };
  const inTurn = [0, 2, 1, 1, 0, 2].map((server, place) => give(server, NOW + place));
  assert.deepEqual(
    inTurn,
    inTurn.toSorted((a, b) => a - b),
  );
  const atOnce = Array.from({ length: 600 }, (_, place) => give(place % 3, NOW + 10));
  assert.equal(new Set([...inTurn, ...atOnce]).size, 606);
});

test("outdated workers serve only while no updated one takes requests", () => {
  const [old, fresh] = [aWorker(ONE, { isOutdated: true, perf: 1e6 }), aWorker(TWO, { perf: 1 })];
  for (const workers of [
    [old, fresh],
    [fresh, old],
  ]) {
    assert.equal(aRouter(workers).sent(10).workerId, TWO);
  }
  const { router, sent } = aRouter([old, fresh]);
  router.setWorkers([old, { ...fresh, isDraining: true }], NOW);
  assert.equal(sent(10).workerId, ONE);
});

test("a worker that has not reported for 25 s gets nothing until it does", () => {
  const { router, called, sent, held } = aRouter([aWorker(ONE)]);
  sent(10, 0, NOW + 24_999);
  const waiting = held(10, 0, NOW + 25_000);
  router.report(ONE, { currentLoad: 0, workingRequestIdxs: [] }, NOW + 26_000);
  assert.deepEqual(
    called.map((one) => one.requestIdx),
    [waiting],
  );
});

test("without reports of any worker, each worker gets requests like any other, and none while it drains", () => {
  const silent = aWorker(ONE, { report: undefined });
  const { router, sent, held } = aRouter([silent], { silentAfterMs: Infinity });
  assert.equal(sent(10).workerId, ONE);
  assert.equal(sent(10, 0, NOW + 86_400_000).workerId, ONE);
  router.setWorkers([{ ...silent, isDraining: true }], NOW + 86_400_000);
  held(10, 0, NOW + 86_400_000);
});

test("work beyond the longest queue is held, and given out the moment that a worker is done", () => {
  const { router, called, sent, held } = aRouter([aWorker(ONE)], { maxQueueTimeMs: 1_000 });
  const [first] = [sent(60), sent(60)];
  assert.equal(router.isPressed(NOW), true, "120 units within a second are more than 90");
  const waiting = held(5);
  assert.deepEqual(router.queue(), { requestCount: 1, load: 5, oldestMs: NOW });
  assert.deepEqual(router.finish(ONE, [first.requestIdx], NOW + 700), []);
  assert.deepEqual(called, [
    { requestIdx: waiting, workerId: ONE, url: first.url, cost: 5, reqnum: called[0]?.reqnum },
  ]);
  assert.deepEqual(router.loadOf(ONE), { load: 65, requestCount: 2 });
  assert.deepEqual(router.takeSamples(), [
    { secondMs: NOW, requestCount: 3, load: 125, waitedCount: 1, waitMs: 700, waitMsMax: 700 },
  ]);
  assert.deepEqual(router.takeSamples(), []);
});

test("a request that comes back goes to another worker, to the same one when there is no other, and counts once", () => {
  const { router, sent, held } = aRouter([aWorker(ONE), aWorker(TWO)]);
  const first = sent(10);
  const second = sent(10, first.requestIdx);
  assert.deepEqual([first.workerId, second.workerId, second.requestIdx], [ONE, TWO, first.requestIdx]);
  router.setWorkers([aWorker(TWO)], NOW);
  assert.deepEqual([sent(10, first.requestIdx).workerId, router.loadOf(TWO).load], [TWO, 10]);
  router.setWorkers([aWorker(TWO, { isDraining: true })], NOW);
  assert.equal(held(10, first.requestIdx), first.requestIdx);
  assert.equal(router.loadOf(TWO).load, 0);
  assert.equal(router.takeSamples()[0]?.requestCount, 1);
});

test("after its replay time a request is a new one, and the old one counts until it is reported as finished", () => {
  const { router, sent } = aRouter([aWorker(ONE, { report: { atMs: NOW + 60_000, load: 0, count: 0 } })]);
  const first = sent(10);
  const later = sent(10, first.requestIdx, NOW + 60_001);
  assert.notEqual(later.requestIdx, first.requestIdx);
  assert.equal(router.loadOf(ONE).load, 20);
  router.report(ONE, { currentLoad: 10, workingRequestIdxs: [later.requestIdx] }, NOW + 61_000);
  assert.equal(router.loadOf(ONE).load, 10);
});

test("a number that was finished, or given before a restart, is taken up again; an unknown number is not", () => {
  const numbers = new RequestNumbers();
  numbers.add(1_000, 2_000);
  const router = new EndpointRouter(SETTINGS, { numbers, onGiven: () => {} });
  router.setWorkers([aWorker(ONE)], NOW);
  const ask = (requestIdx: number) => router.route({ requestIdx, cost: 1, replayTimeoutMs: 60_000 }, NOW);
  assert.equal(ask(0).kind, "given");
  for (const never of [-1, 0.5, 1_001, 1_999, 2_000, 2 ** 53]) assert.equal(ask(never).kind, "unknown", `${never}`);
  const adopted = ask(7);
  assert.deepEqual([adopted.kind, adopted.kind === "given" && adopted.assignment.requestIdx], ["given", 7]);
  router.finish(ONE, [1_000], NOW);
  assert.equal(ask(1_000).kind, "given");
});

test("requests that other servers gave to a worker count for the choice, until they are reported as done", () => {
  const { router, sent } = aRouter([aWorker(ONE), aWorker(TWO)]);
  router.report(ONE, { currentLoad: 1_000, workingRequestIdxs: [901, 902] }, NOW);
  assert.deepEqual(router.loadOf(ONE), { load: 0, requestCount: 0 });
  assert.equal(sent(600).workerId, TWO);
  assert.deepEqual(router.finish(ONE, [901], NOW), [901]);
  assert.equal(sent(10).workerId, ONE, "500 units against 600");
  // The report as another server stored it in the database.
  const report = { atMs: NOW + 10_000, load: 5_000, count: 7 };
  router.setWorkers([aWorker(ONE, { report }), aWorker(TWO)], NOW + 10_000);
  assert.equal(sent(10, 0, NOW + 10_000).workerId, TWO);
});

test("the next request of a worker that does one at a time is given shortly before it is needed", () => {
  const { router, sent, ask } = aRouter([aWorker(ONE)]);
  let nowMs = NOW;
  for (let count = 0; count < 8; count += 1) {
    const { requestIdx } = sent(200, 0, nowMs);
    nowMs += 2_000;
    router.finish(ONE, [requestIdx], nowMs);
  }
  const kinds = [1, 2, 3, 4, 5].map(() => ask(200, 0, nowMs).kind);
  assert.deepEqual(kinds, ["given", "given", "given", "held", "held"], "twice 2 s and a second are 500 units");
});

test("a worker that does many requests at once gets as many as it needs to be fully used", () => {
  const { router, sent, ask } = aRouter([aWorker(ONE)]);
  let nowMs = NOW;
  for (let count = 0; count < 60; count += 1) {
    const { requestIdx } = sent(200, 0, nowMs);
    nowMs += 12_000;
    router.report(ONE, { currentLoad: 0, workingRequestIdxs: [requestIdx] }, nowMs);
    router.finish(ONE, [requestIdx], nowMs);
  }
  const kinds = Array.from({ length: 20 }, () => ask(200, 0, nowMs).kind);
  assert.equal(kinds.filter((kind) => kind === "given").length, 13, "25 s of work at 100 units a second");
});

test("a queue of 100,000 takes no further request, but those in it keep their places", () => {
  const { ask, held } = aRouter([]);
  const first = held(1);
  for (let count = 1; count < 100_000; count += 1) ask(1);
  assert.equal(ask(1).kind, "full");
  assert.equal(held(1, first), first);
});

test("a request that comes back and has to wait counts its wait from then on, and not from its first arrival", () => {
  const { router, sent, held, called } = aRouter([aWorker(ONE)]);
  const { requestIdx } = sent(10);
  router.setWorkers([aWorker(ONE, { isDraining: true })], NOW);
  router.takeSamples();
  held(10, requestIdx, NOW + 5_000);
  router.setWorkers([aWorker(ONE)], NOW + 5_800);
  assert.equal(called.length, 1);
  assert.deepEqual(router.takeSamples(), [
    { secondMs: NOW + 5_000, requestCount: 0, load: 0, waitedCount: 1, waitMs: 800, waitMsMax: 800 },
  ]);
});

test("a server that has just started knows from the last reports which workers are busy", () => {
  const busy = { atMs: NOW, load: 1_000, count: 4 };
  const { sent } = aRouter([aWorker(ONE, { report: busy }), aWorker(TWO)]);
  assert.deepEqual([sent(100).workerId, sent(100).workerId], [TWO, TWO]);
});

test("the report of an older worker that lists no requests is not counted beside the requests that it was given", () => {
  const { router, sent } = aRouter([aWorker(ONE, { perf: 10 })], { maxQueueTimeMs: 6_000 });
  sent(50);
  router.report(ONE, { currentLoad: 50, workingRequestIdxs: [] }, NOW + 1_000);
  assert.equal(sent(1, 0, NOW + 1_000).workerId, ONE, "5 s of work before it, and not 10");
});

test("the router remembers no more requests than it has room for, however small they are; known ones are still served", () => {
  const numbers = RequestNumbers.unlimited();
  const router = new EndpointRouter(SETTINGS, { numbers, onGiven: () => {}, requestsMax: 2 });
  router.setWorkers([aWorker(ONE), aWorker(TWO)], NOW);
  const ask = (requestIdx: number) => router.route({ requestIdx, cost: 0, replayTimeoutMs: 86_400_000 }, NOW).kind;
  assert.deepEqual([ask(0), ask(0), ask(0), ask(1)], ["given", "given", "full", "given"]);
  router.finish(ONE, [1, 2], NOW);
  router.finish(TWO, [1, 2], NOW);
  assert.equal(ask(0), "given");
});
