import { asId, type EndpointGroupId, type MachineId, type OfferId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { mulDivFloor, nanos } from "../../../base/money.ts";
import { median } from "../autoscaling/rules/worker-perf.ts";
import type { Action, LoadSample, OfferView, Situation } from "../autoscaling/rules/types.ts";
import { EndpointRouter, type Assignment } from "../routing/endpoint-router.ts";
import { RequestNumbers } from "../routing/request-numbers.ts";
import { EventQueue } from "./event-queue.ts";
import { GROUP_ID, MS_PER_HOUR, SimulatedWorkers, type SimulatedWorker } from "./simulated-workers.ts";
import type { TrafficResult, TrafficSimulation } from "./types.ts";
import { WaitTimes } from "./wait-times.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const MEMORY_MS = 3_600_000;
/** The time that a worker needs to stop; the next constant is the delay of the autoscaler after a call for more. */
const STOP_MS = 1_000;
const REACTION_MS = 250;
/** A change that is reverted within this time counts as a flap: it was not worth making. */
const FLAP_MS = 60_000;
/** Requests without service are given up this long after the last arrival. */
const PATIENCE_MS = 3_600_000;
const MAX_QUEUE_TIME_S = 30;
/** The most workers that are rented at once. */
const OFFERS_MAX = 100;
const REPLAY_TIMEOUT_MS = 60_000;

type Event =
  | { readonly kind: "done"; readonly worker: SimulatedWorker; readonly request: number }
  | { readonly kind: "ready" | "stopped"; readonly worker: SimulatedWorker; readonly sinceMs: number }
  | { readonly kind: "decide"; readonly isRegular: boolean };

/**
 * Replays traffic against a policy on a virtual clock. The real router routes the requests, and the policy gets the
 * situations that the autoscaler would get. The same input gives the same result.
 */
export function simulateTraffic(simulation: TrafficSimulation): TrafficResult {
  return new Run(simulation).play();
}

class Run {
  readonly #input: TrafficSimulation;
  readonly #events = new EventQueue<Event>();
  readonly #workers: SimulatedWorkers;
  readonly #router: EndpointRouter;
  readonly #waits: WaitTimes;
  readonly #samples: LoadSample[] = [];
  readonly #timeline: { atMs: number; hotCount: number; totalCount: number }[] = [];
  #firstStartsMs: number[] = [];
  #warmStartsMs: number[] = [];
  #nowMs = 0;
  #decidedAtMs = -Infinity;
  #isWakePlanned = false;
  #decisionCount = 0;
  #actionCount = 0;
  #startCount = 0;
  #stopCount = 0;
  #flapCount = 0;
  #lastTurn = { direction: 0, atMs: -Infinity };
  #workerCountMax = 0;

  constructor(input: TrafficSimulation) {
    this.#input = input;
    this.#workers = new SimulatedWorkers(input.model, input.countedFromMs);
    this.#waits = new WaitTimes(input.arrivals, input.countedFromMs);
    const { maxQueueTimeS = MAX_QUEUE_TIME_S, targetUtil } = input.parameters;
    this.#router = new EndpointRouter(
      { maxQueueTimeMs: maxQueueTimeS * SECOND_MS, silentAfterMs: Infinity, targetUtil },
      {
        numbers: RequestNumbers.unlimited(),
        onGiven: (assignment) => this.#send(assignment),
      },
    );
  }

  play(): TrafficResult {
    const { arrivals, hotCount, stoppedCount } = this.#input;
    for (let count = 0; count < hotCount + stoppedCount; count += 1) {
      this.#workers.add(count < hotCount ? "ready" : "stopped", 0);
    }
    this.#workerCountMax = hotCount + stoppedCount;
    this.#alignRouter();
    this.#events.plan(0, { kind: "decide", isRegular: true });
    const lastMs = Math.max(arrivals.at(-1)?.atMs ?? 0, this.#input.untilMs ?? 0);
    let next = 0;
    let bill: Bill | undefined;
    while (next < arrivals.length || this.#waits.openCount > 0 || this.#events.nextAtMs <= lastMs) {
      const arrival = arrivals[next];
      if (arrival === undefined && this.#events.nextAtMs > lastMs) bill ??= this.#billUntil(lastMs);
      if (arrival !== undefined && arrival.atMs <= this.#events.nextAtMs) {
        this.#nowMs = arrival.atMs;
        next += 1;
        this.#arrive(arrival.load);
      } else if (!this.#step() || this.#nowMs > lastMs + PATIENCE_MS) break;
    }
    return this.#result(bill ?? this.#billUntil(lastMs));
  }

  /** The bill up to this time: the comparison covers only the time in which requests could come. */
  #billUntil(lastMs: number): Bill {
    this.#workers.billAll(lastMs);
    const { runningMs, stoppedMs } = this.#workers;
    return { runningMs, stoppedMs };
  }

  #arrive(load: number): void {
    this.#waits.openCount += 1;
    const answer = this.#router.route({ requestIdx: 0, cost: load, replayTimeoutMs: REPLAY_TIMEOUT_MS }, this.#nowMs);
    if (answer.kind === "given") this.#send(answer.assignment);
    if (this.#input.isWokenByPressure && !this.#isWakePlanned && this.#router.isPressed(this.#nowMs)) {
      this.#isWakePlanned = true;
      const atMs = Math.max(this.#nowMs, this.#decidedAtMs + REACTION_MS);
      this.#events.plan(atMs, { kind: "decide", isRegular: false });
    }
  }

  /** Delivers a request to its worker, which begins it at once if it has a free place. */
  #send({ requestIdx, workerId, cost }: Assignment): void {
    const worker = this.#workers.require(workerId);
    invariant(worker.phase === "ready", "only a worker that is ready is given requests");
    worker.load += cost;
    worker.requestCount += 1;
    worker.activeAtMs = this.#nowMs;
    worker.waiting.push(requestIdx - 1);
    this.#beginNext(worker);
  }

  #beginNext(worker: SimulatedWorker): void {
    const { parallelCount, perf } = this.#input.model;
    while (worker.runningCount < parallelCount) {
      const request = worker.waiting.shift();
      if (request === undefined) return;
      worker.runningCount += 1;
      this.#waits.begin(request, this.#nowMs);
      const tookMs = ((this.#input.arrivals[request]?.load ?? 0) / (perf / parallelCount)) * SECOND_MS;
      this.#events.plan(this.#nowMs + tookMs, { kind: "done", worker, request });
    }
  }

  /** Processes the next planned event; false when there is none. */
  #step(): boolean {
    const atMs = this.#events.nextAtMs;
    const event = this.#events.take();
    if (event === undefined) return false;
    this.#nowMs = atMs;
    switch (event.kind) {
      case "done":
        this.#finish(event.worker, event.request);
        break;
      case "decide":
        this.#decide(event.isRegular);
        break;
      case "ready":
      case "stopped":
        // The event is obsolete if the worker got a later order.
        if (event.worker.orderedAtMs === event.sinceMs && this.#workers.all.has(event.worker.id)) this.#settle(event);
        break;
    }
    return true;
  }

  #finish(worker: SimulatedWorker, request: number): void {
    const load = this.#input.arrivals[request]?.load ?? 0;
    worker.runningCount -= 1;
    worker.requestCount -= 1;
    worker.load = worker.requestCount === 0 ? 0 : Math.max(0, worker.load - load);
    worker.activeAtMs = this.#nowMs;
    this.#waits.end(request);
    this.#beginNext(worker);
    this.#router.finish(worker.id, [request + 1], this.#nowMs);
  }

  #settle({ kind, worker, sinceMs }: Extract<Event, { kind: "ready" | "stopped" }>): void {
    if (kind === "ready") {
      const tookMs = this.#nowMs - sinceMs;
      if (worker.phase === "starting") {
        worker.warmStartMs = tookMs;
        this.#warmStartsMs.push(tookMs);
      } else this.#firstStartsMs.push(tookMs);
      worker.isMeasured = true;
    } else worker.draining = undefined;
    this.#workers.change(worker, kind, this.#nowMs);
    this.#alignRouter();
  }

  #decide(isRegular: boolean): void {
    if (isRegular) this.#events.plan(this.#nowMs + this.#input.intervalMs, { kind: "decide", isRegular });
    else this.#isWakePlanned = false;
    this.#decidedAtMs = this.#nowMs;
    this.#takeSamples();
    const actions = this.#input.policy(this.#situation());
    this.#decisionCount += 1;
    for (const action of actions) this.#perform(action);
    if (actions.length > 0) this.#alignRouter();
    if (Math.floor(this.#nowMs / MINUTE_MS) >= this.#timeline.length) this.#noteTime();
  }

  #noteTime(): void {
    const hotCount = this.#workers.countHot();
    this.#timeline.push({ atMs: this.#nowMs, hotCount, totalCount: this.#workers.all.size });
  }

  #takeSamples(): void {
    for (const taken of this.#router.takeSamples()) {
      const last = this.#samples.at(-1);
      if (last?.secondMs !== taken.secondMs) this.#samples.push(taken);
      else {
        this.#samples[this.#samples.length - 1] = {
          secondMs: last.secondMs,
          requestCount: last.requestCount + taken.requestCount,
          load: last.load + taken.load,
          waitedCount: last.waitedCount + taken.waitedCount,
          waitMsMax: Math.max(last.waitMsMax, taken.waitMsMax),
        };
      }
    }
    const firstKept = this.#samples.findIndex(({ secondMs }) => secondMs > this.#nowMs - MEMORY_MS);
    if (firstKept > 600) this.#samples.splice(0, firstKept);
  }

  #situation(): Situation {
    const { parameters, model } = this.#input;
    const workers = [...this.#workers.all.values()].map((worker) => this.#workers.view(worker));
    return {
      nowMs: this.#nowMs,
      endpointId: asId<EndpointGroupId>(1),
      parameters,
      groups: [
        {
          ...{ id: GROUP_ID, coldWorkers: parameters.coldWorkers, maxWorkers: parameters.maxWorkers, testWorkers: 1 },
          ...{ isUpdating: false, failureCount: 0, resumesAtMs: undefined, maxNanosPerHour: undefined },
          firstStartMs: median(this.#firstStartsMs),
          warmStartMs: median(this.#warmStartsMs) ?? median(model.warmStartsMs),
        },
      ],
      workers,
      offers: workers.length < parameters.maxWorkers ? this.#offers() : [],
      samples: this.#samples,
      queue: this.#router.queue(),
      spendingStop: undefined,
      createdAtMs: 0,
    };
  }

  /** The market always has another machine of the same kind. */
  #offers(): readonly OfferView[] {
    const { perf, priceNanosPerHour, coldPriceNanosPerHour } = this.#input.model;
    return Array.from({ length: Math.min(OFFERS_MAX, this.#input.parameters.maxWorkers) }, (_, index) => ({
      offerId: asId<OfferId>(index + 1),
      groupId: GROUP_ID,
      machineId: asId<MachineId>(1_000_000 + index),
      dlperf: perf,
      reliability: 1,
      priceNanosPerHour,
      coldPriceNanosPerHour,
    }));
  }

  #perform(action: Action): void {
    this.#actionCount += 1;
    this.#count(action);
    if (action.kind === "rent") {
      this.#turn(1);
      invariant(this.#workers.all.size < this.#input.parameters.maxWorkers, "no more are rented than are allowed");
      this.#beginStart(this.#workers.add("loading", this.#nowMs), "first");
      this.#workerCountMax = Math.max(this.#workerCountMax, this.#workers.all.size);
      return;
    }
    const worker = this.#workers.require(action.workerId);
    switch (action.kind) {
      case "start":
        invariant(worker.phase === "stopped", "only a stopped worker is started");
        this.#turn(1);
        this.#workers.change(worker, "starting", this.#nowMs);
        this.#beginStart(worker, "warm");
        break;
      case "undrain":
        this.#turn(1);
        worker.draining = undefined;
        break;
      case "drain":
        this.#turn(-1);
        worker.draining = { to: action.to, sinceMs: this.#nowMs };
        break;
      case "stop":
        invariant(worker.requestCount === 0, "a busy worker is never stopped");
        if (worker.draining === undefined) this.#turn(-1);
        this.#workers.change(worker, "stopping", this.#nowMs);
        worker.orderedAtMs = this.#nowMs;
        this.#events.plan(this.#nowMs + STOP_MS, { kind: "stopped", worker, sinceMs: this.#nowMs });
        break;
      case "destroy":
        invariant(worker.requestCount === 0, "a busy worker is never destroyed");
        this.#workers.remove(worker, this.#nowMs);
        break;
      case "update":
        break;
    }
  }

  #count({ kind }: Action): void {
    if (this.#nowMs < this.#input.countedFromMs) return;
    if (kind === "rent" || kind === "start") this.#startCount += 1;
    else if (kind === "stop" || kind === "destroy") this.#stopCount += 1;
  }

  #beginStart(worker: SimulatedWorker, kind: "first" | "warm"): void {
    worker.orderedAtMs = this.#nowMs;
    this.#events.plan(this.#nowMs + this.#workers.nextStartMs(kind), { kind: "ready", worker, sinceMs: this.#nowMs });
  }

  #turn(direction: 1 | -1): void {
    const isReversal = this.#lastTurn.direction === -direction && this.#nowMs - this.#lastTurn.atMs < FLAP_MS;
    if (isReversal && this.#nowMs >= this.#input.countedFromMs) this.#flapCount += 1;
    this.#lastTurn = { direction, atMs: this.#nowMs };
  }

  #alignRouter(): void {
    const { perf } = this.#input.model;
    // The router would take a later report without requests for the end of those that it gave.
    const report = { atMs: 0, load: 0, count: 0 };
    const routable = [...this.#workers.all.values()].map(({ id, phase, draining }) => ({
      ...{ id, url: "", perf, report, isOutdated: false },
      ...{ isReady: phase === "ready", isDraining: draining !== undefined },
    }));
    this.#router.setWorkers(routable, this.#nowMs);
  }

  #result({ runningMs, stoppedMs }: Bill): TrafficResult {
    const { priceNanosPerHour, coldPriceNanosPerHour } = this.#input.model;
    const hour = BigInt(MS_PER_HOUR);
    const cost =
      mulDivFloor(priceNanosPerHour, BigInt(Math.round(runningMs)), hour) +
      mulDivFloor(coldPriceNanosPerHour, BigInt(Math.round(stoppedMs)), hour);
    this.#noteTime();
    return {
      ...this.#waits.summary(),
      gpuHours: runningMs / MS_PER_HOUR,
      coldHours: stoppedMs / MS_PER_HOUR,
      costNanos: nanos(cost),
      decisionCount: this.#decisionCount,
      actionCount: this.#actionCount,
      startCount: this.#startCount,
      stopCount: this.#stopCount,
      flapCount: this.#flapCount,
      workerCountMax: this.#workerCountMax,
      timeline: this.#timeline,
    };
  }
}

type Bill = { readonly runningMs: number; readonly stoppedMs: number };
