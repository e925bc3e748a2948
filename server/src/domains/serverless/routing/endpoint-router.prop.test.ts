import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { EndpointRouter, PLACE_KEPT_MS, type Assignment } from "./endpoint-router.ts";
import { RequestNumbers } from "./request-numbers.ts";
import type { RoutableWorker } from "./routed-request.ts";

const SILENT_AFTER_MS = 25_000;
const MAX_QUEUE_TIME_MS = 5_000;
const WORKERS = 4;

/** A number that picks one of the present items. */
type Pick = number;
type Step =
  | { readonly kind: "route"; readonly cost: number; readonly replayS: number }
  | { readonly kind: "again"; readonly which: Pick; readonly replayS: number }
  | { readonly kind: "leave"; readonly which: Pick; readonly isTold: boolean }
  | { readonly kind: "finish"; readonly which: Pick }
  | { readonly kind: "report"; readonly worker: Pick; readonly drops: Pick; readonly foreign: number }
  | { readonly kind: "worker"; readonly worker: Pick; readonly change: "add" | "remove" | "drain" | "stop" | "outdate" }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "expire" };

const pick = fc.nat(1_000);
const cost = fc.constantFrom(0, 0.25, 1, 7, 100);
const replayS = fc.constantFrom(0, 60);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant("route" as const), cost, replayS }), weight: 5 },
  { arbitrary: fc.record({ kind: fc.constant("again" as const), which: pick, replayS }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant("leave" as const), which: pick, isTold: fc.boolean() }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant("finish" as const), which: pick }), weight: 4 },
  {
    arbitrary: fc.record({ kind: fc.constant("report" as const), worker: pick, drops: pick, foreign: fc.nat(3) }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant("worker" as const),
      worker: pick,
      change: fc.constantFrom(
        "add" as const,
        "add" as const,
        "remove" as const,
        "drain" as const,
        "stop" as const,
        "outdate" as const,
      ),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(10, 900, 5_000, 30_000) }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constant("expire" as const) }), weight: 1 },
);

type Known = {
  readonly order: number;
  readonly cost: number;
  replayMs: number;
  isAttended: boolean;
  isTold: boolean;
  seenAtMs: number;
  /** The worker that its client was sent to, and when. */
  given: { readonly workerId: InstanceId; readonly atMs: number } | undefined;
};

/** A client of the router that remembers what a client must, checks each answer, and knows no rule of choice. */
class Model {
  nowMs = 1_000_000;
  readonly router: EndpointRouter;
  readonly known = new Map<number, Known>();
  readonly workers = new Map<InstanceId, RoutableWorker>();
  #orders = 0;
  readonly #calls: Assignment[] = [];

  constructor() {
    this.router = new EndpointRouter(
      { maxQueueTimeMs: MAX_QUEUE_TIME_MS, silentAfterMs: SILENT_AFTER_MS, targetUtil: 0.9 },
      {
        numbers: RequestNumbers.unlimited(),
        onGiven: (assignment) => void this.#calls.push(assignment),
      },
    );
  }

  run(step: Step): void {
    const waitingBefore = new Set(this.#waiting());
    this.#perform(step);
    for (const assignment of this.#calls.splice(0)) {
      const known = this.known.get(assignment.requestIdx);
      assert.ok(known?.isAttended, "only a connected client is called");
      this.#noteGiven(assignment);
    }
    this.#check(waitingBefore);
  }

  #perform(step: Step): void {
    switch (step.kind) {
      case "route":
        return this.#ask(0, step.cost, step.replayS);
      case "again": {
        const idx = this.#pickOf([...this.known.keys()], step.which);
        if (idx !== undefined) this.#ask(idx, this.known.get(idx)?.cost ?? 0, step.replayS);
        return;
      }
      case "leave": {
        const idx = this.#pickOf(
          this.#idxs((one) => one.given === undefined && one.isAttended),
          step.which,
        );
        const known = idx === undefined ? undefined : this.known.get(idx);
        if (idx === undefined || known === undefined) return;
        known.isTold ||= step.isTold;
        Object.assign(known, { isAttended: false, seenAtMs: this.nowMs });
        if (!known.isTold) this.known.delete(idx);
        this.router.leave(idx, { isTold: step.isTold }, this.nowMs);
        return;
      }
      case "finish": {
        const idx = this.#pickOf(
          this.#idxs((one) => one.given !== undefined),
          step.which,
        );
        const given = idx === undefined ? undefined : this.known.get(idx)?.given;
        if (idx === undefined || given === undefined) return;
        const other = [...this.workers.keys()].find((id) => id !== given.workerId);
        if (other !== undefined) assert.deepEqual(this.router.finish(other, [idx], this.nowMs), [idx]);
        this.known.delete(idx);
        assert.deepEqual(this.router.finish(given.workerId, [idx, idx + 1e9], this.nowMs), [idx + 1e9]);
        return;
      }
      case "report":
        return this.#report(step.worker, step.drops, step.foreign);
      case "worker":
        return this.#changeWorker(step);
      case "pass":
        this.nowMs += step.ms;
        return;
      case "expire":
        for (const [idx, one] of this.known) {
          const isAway = one.given === undefined && !one.isAttended;
          if (isAway && one.seenAtMs + PLACE_KEPT_MS <= this.nowMs) this.known.delete(idx);
        }
        this.router.expire(this.nowMs);
    }
  }

  #ask(requestIdx: number, costAsked: number, replay: number): void {
    const before = this.known.get(requestIdx);
    const isSpent = before?.given !== undefined && before.given.atMs + before.replayMs < this.nowMs;
    const former = isSpent ? undefined : before?.given?.workerId;
    const answer = this.router.route({ requestIdx, cost: costAsked, replayTimeoutMs: replay * 1000 }, this.nowMs);
    assert.ok(answer.kind === "given" || answer.kind === "held");
    const idx = answer.kind === "given" ? answer.assignment.requestIdx : answer.requestIdx;
    if (before === undefined || isSpent) assert.ok(!this.known.has(idx), "a new request gets a number of its own");
    else assert.equal(idx, requestIdx, "a request keeps its number");
    const order = isSpent ? undefined : before?.order;
    this.known.set(idx, {
      order: order ?? (this.#orders += 1),
      cost: costAsked,
      replayMs: replay * 1000,
      isAttended: answer.kind === "held",
      isTold: answer.kind === "given" || (before !== undefined && !isSpent),
      seenAtMs: this.nowMs,
      given: undefined,
    });
    if (answer.kind !== "given") return;
    const others = [...this.workers.values()].filter((worker) => worker.id !== former && this.#isIdle(worker));
    if (former !== undefined && others.length > 0) {
      assert.notEqual(
        answer.assignment.workerId,
        former,
        "a request that was not served goes to another worker if one is idle",
      );
    }
    this.#noteGiven(answer.assignment);
  }

  #noteGiven({ requestIdx, workerId, url, cost: costGiven }: Assignment): void {
    const known = this.known.get(requestIdx);
    const worker = this.workers.get(workerId);
    assert.ok(known !== undefined && worker !== undefined);
    assert.equal(known.given, undefined, "a request has one worker unless its client asked again");
    assert.ok(this.#isOpen(worker), "only an open worker gets requests");
    assert.deepEqual([url, costGiven], [worker.url, known.cost]);
    Object.assign(known, { isAttended: false, isTold: true, given: { workerId, atMs: this.nowMs } });
  }

  #report(which: Pick, drops: Pick, foreign: number): void {
    const id = this.#pickOf([...this.workers.keys()], which);
    const worker = id === undefined ? undefined : this.workers.get(id);
    if (id === undefined || worker === undefined) return;
    const own = this.#idxs((one) => one.given?.workerId === id);
    const listed = own.filter((_, index) => (drops >> index) % 2 === 0);
    for (const idx of own) {
      const { given, replayMs = 0 } = this.known.get(idx) ?? {};
      if (!listed.includes(idx) && given !== undefined && given.atMs + replayMs < this.nowMs) this.known.delete(idx);
    }
    const workingRequestIdxs = [...listed, ...Array.from({ length: foreign }, (_, index) => 1e9 + index)];
    this.workers.set(id, {
      ...worker,
      report: { atMs: this.nowMs, load: foreign * 10, count: workingRequestIdxs.length },
    });
    this.router.report(id, { currentLoad: foreign * 10, workingRequestIdxs }, this.nowMs);
  }

  #changeWorker({ worker: which, change }: Extract<Step, { kind: "worker" }>): void {
    const id = asId<InstanceId>((which % WORKERS) + 1);
    const report = { atMs: this.nowMs, load: 0, count: 1 };
    const old = this.workers.get(id);
    if (change === "remove" || old === undefined) {
      this.workers.delete(id);
      for (const idx of this.#idxs((one) => one.given?.workerId === id)) this.known.delete(idx);
    }
    if (change === "add") {
      const flags = { isReady: true, isDraining: false, isOutdated: false };
      this.workers.set(id, { id, url: `http://${id}`, perf: (which % 7) + 1, ...flags, report: old?.report ?? report });
    } else if (old !== undefined && change !== "remove") {
      const changed = { drain: { isDraining: true }, stop: { isReady: false }, outdate: { isOutdated: true } }[change];
      this.workers.set(id, { ...old, ...changed });
    }
    this.router.setWorkers([...this.workers.values()], this.nowMs);
  }

  #check(waitingBefore: ReadonlySet<number>): void {
    const waiting = this.#waiting();
    const orderOf = (idx: number) => this.known.get(idx)?.order ?? 0;
    const inOrder = waiting.toSorted((a, b) => orderOf(a) - orderOf(b));
    assert.deepEqual(
      inOrder.map((idx) => this.router.countBefore(idx, 1_000)),
      inOrder.map((_, index) => index),
      "requests wait in the order of their arrival",
    );
    const served = [...waitingBefore].filter((idx) => this.known.has(idx) && !waiting.includes(idx));
    for (const idx of served) {
      for (const other of waiting)
        assert.ok(orderOf(idx) < orderOf(other), "no request is served before an earlier one");
    }
    const loads = [...this.workers.keys()].map((id) => this.router.loadOf(id));
    const all = [...this.known.values()];
    const queue = this.router.queue();
    assert.ok(loads.every(({ load }) => load >= 0) && queue.load >= 0);
    assert.equal(sum(loads.map((one) => one.requestCount)) + queue.requestCount, all.length, "no request is lost");
    assert.equal(sum(loads.map((one) => one.load)) + queue.load, sum(all.map((one) => one.cost)));
    for (const id of this.workers.keys()) {
      const given = all.filter((one) => one.given?.workerId === id);
      assert.ok(this.router.loadOf(id).load >= sum(given.map((one) => one.cost)));
    }
    assert.equal(queue.requestCount, waiting.length);
    assert.equal(this.router.isIdle(), all.length === 0, "finished requests are forgotten");
    assert.equal(queue.oldestMs === undefined, waiting.length === 0);
  }

  /** Checks that held requests are served as soon as a worker can take anything. */
  assertAllServed(): void {
    const id = asId<InstanceId>(99);
    const report = { atMs: this.nowMs, load: 0, count: 0 };
    const flags = { isReady: true, isDraining: false, isOutdated: false };
    this.workers.set(id, { id, url: "http://99", perf: 1e9, ...flags, report });
    this.router.setWorkers([...this.workers.values()], this.nowMs);
    for (const assignment of this.#calls.splice(0)) this.#noteGiven(assignment);
    assert.equal(this.router.queue().requestCount, 0);
    for (const idx of this.#idxs((one) => one.given === undefined)) {
      assert.equal(this.known.get(idx)?.isAttended, false, "a connected client is told at once");
      this.#ask(idx, this.known.get(idx)?.cost ?? 0, 60);
      assert.ok(this.known.get(idx)?.given, "a worker is kept for a client between two polls");
    }
  }

  #waiting(): number[] {
    return [...this.known.keys()].filter((idx) => this.router.countBefore(idx, 1_000) !== undefined);
  }

  #isOpen({ isReady, isDraining, report }: RoutableWorker): boolean {
    return isReady && !isDraining && report !== undefined && report.atMs + SILENT_AFTER_MS > this.nowMs;
  }

  #isIdle(worker: RoutableWorker): boolean {
    const { load, requestCount } = this.router.loadOf(worker.id);
    return this.#isOpen(worker) && !worker.isOutdated && load === 0 && requestCount === 0 && worker.report?.load === 0;
  }

  #idxs(holds: (one: Known) => boolean): number[] {
    return [...this.known].filter(([, one]) => holds(one)).map(([idx]) => idx);
  }

  #pickOf<T>(all: readonly T[], which: Pick): T | undefined {
    return all[which % Math.max(1, all.length)];
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

test("no request is lost, served twice or out of turn, and loads add up, in any order of calls by clients, workers and time", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      const model = new Model();
      for (const each of steps) model.run(each);
      model.assertAllServed();
    }),
    { numRuns: 600 },
  );
});
