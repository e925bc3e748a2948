import type { InstanceId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { QueueView } from "../autoscaling/rules/types.ts";
import { LoadCounter, type RoutedSecond } from "./load-counter.ts";
import { nextReqnum } from "./reqnum.ts";
import type { RequestNumbers } from "./request-numbers.ts";
import type { RoutableWorker, RoutedRequest, WorkerSlot } from "./routed-request.ts";
import { ServiceEstimate } from "./service-estimate.ts";
import { RequestQueue } from "./request-queue.ts";
import { WorkerSlots } from "./worker-slots.ts";

export type RouterSettings = {
  /** A worker with more work than it serves in this time gets no more. */
  readonly maxQueueTimeMs: number;
  /** A worker that has not reported for this long gets nothing; `Infinity` where workers do not report. */
  readonly silentAfterMs: number;
  /** The share of the workers' performance that is to be used. */
  readonly targetUtil: number;
};

export type RouteRequest = {
  /** The number that its client was given before; 0 for a new request. */
  readonly requestIdx: number;
  /** Cost in units. */
  readonly cost: number;
  /** After it was given away, a request may come back under its number for this long. */
  readonly replayTimeoutMs: number;
};

export type Assignment = {
  readonly requestIdx: number;
  readonly workerId: InstanceId;
  readonly url: string;
  readonly cost: number;
  /** Rises with each request that this worker is given, and differs from those that other servers give it. */
  readonly reqnum: number;
};

export type RouteAnswer =
  | { readonly kind: "given"; readonly assignment: Assignment }
  /** The request is in the queue: `onGiven` is called for it, unless `leave` was called before. */
  | { readonly kind: "held"; readonly requestIdx: number }
  /** The number was never given to a client. */
  | { readonly kind: "unknown" }
  /** The queue is full, or the number of remembered requests has reached its limit. */
  | { readonly kind: "full" };

export type WorkerReport = { readonly currentLoad: number; readonly workingRequestIdxs: readonly number[] };

/** Clients poll again within five seconds; one that stays away for twice as long has given up. */
export const PLACE_KEPT_MS = 10_000;
const QUEUE_LENGTH_MAX = 100_000;
/** The limit of remembered requests, those given away included: each takes memory. */
const REQUESTS_MAX = 500_000;
/**
 * A report is newer than another if it is later by more than this: the clocks of two servers may stamp the same
 * report.
 */
const REPORT_SPACING_MS = 500;
const NOWHERE = { slot: undefined, avoided: undefined, previous: undefined, next: undefined } as const;

/**
 * Decides which worker of one endpoint each request goes to. A request that no worker can take waits in the queue,
 * first come first served, and keeps its place while its client is between two polls; a worker that becomes free then
 * is reserved for it. All state is in memory and nothing does I/O; the result depends only on the calls and their
 * times, so a simulation sees the same behaviour.
 */
export class EndpointRouter {
  #settings: RouterSettings;
  readonly #numbers: RequestNumbers;
  readonly #onGiven: (assignment: Assignment) => void;
  readonly #requests = new Map<number, RoutedRequest>();
  readonly #reserved = new Set<RoutedRequest>();
  readonly #waiting = new RequestQueue();
  readonly #slots = new WorkerSlots();
  readonly #counter = new LoadCounter();
  readonly #estimate = new ServiceEstimate();
  #cameCount = 0;
  readonly #requestsMax: number;

  constructor(
    settings: RouterSettings,
    {
      numbers,
      onGiven,
      requestsMax = REQUESTS_MAX,
    }: {
      readonly numbers: RequestNumbers;
      /** Called when a held request gets its worker while its client is connected. */
      readonly onGiven: (assignment: Assignment) => void;
      /** The limit of remembered requests, waiting or given away. */
      readonly requestsMax?: number;
    },
  ) {
    this.#settings = settings;
    this.#numbers = numbers;
    this.#onGiven = onGiven;
    this.#requestsMax = requestsMax;
  }

  configure(settings: RouterSettings, nowMs: number): void {
    this.#settings = settings;
    for (const slot of this.#slots.all) this.#slots.refresh(slot, settings.silentAfterMs);
    this.#dispatch(nowMs);
  }

  /** Sets all present workers; requests of workers that are gone are forgotten, as no report will finish them. */
  setWorkers(workers: readonly RoutableWorker[], nowMs: number): void {
    const present = new Set(workers.map(({ id }) => id));
    for (const slot of this.#slots.all.filter(({ worker }) => !present.has(worker.id))) this.#dismiss(slot);
    for (const worker of workers) {
      const slot = this.#slots.find(worker.id) ?? this.#slots.add(worker);
      slot.worker = worker;
      this.#learnReport(slot, nowMs);
      this.#slots.refresh(slot, this.#settings.silentAfterMs);
      if (!this.#slots.isRoutable(slot, nowMs)) this.#requeueReserved(slot);
    }
    this.#dispatch(nowMs);
  }

  /** Routes a new request, a poll of a held one, or a request whose worker did not serve it. */
  route(asked: RouteRequest, nowMs: number): RouteAnswer {
    const request = this.#admit(asked, nowMs);
    if (request === "unknown" || request === "full") return { kind: request };
    request.seenAtMs = nowMs;
    request.replayTimeoutMs = asked.replayTimeoutMs;
    // `dispatch` must not call `onGiven` for this request, since the answer to this call carries the worker.
    request.isAttended = false;
    const { slot } = request;
    if (request.state === "reserved" && slot && !this.#slots.isRoutable(slot, nowMs)) this.#requeueReserved(slot);
    this.#dispatch(nowMs);
    if (request.state === "reserved") return { kind: "given", assignment: this.#give(request, nowMs) };
    request.isAttended = true;
    request.isHeld = true;
    return { kind: "held", requestIdx: request.idx };
  }

  /**
   * The client of a held request disconnected, or was told to ask again: then it knows its number and keeps its
   * place.
   */
  leave(requestIdx: number, { isTold }: { readonly isTold: boolean }, nowMs: number): void {
    const request = this.#requests.get(requestIdx);
    if (request === undefined || request.state === "given") return;
    request.isAttended = false;
    request.seenAtMs = nowMs;
    request.isTold ||= isTold;
    if (!request.isTold) this.#drop(request);
    this.#dispatch(nowMs);
  }

  /** Removes requests that the worker has finished. Returns those that other servers may have given to it. */
  finish(workerId: InstanceId, requestIdxs: readonly number[], nowMs: number): readonly number[] {
    const slot = this.#slots.find(workerId);
    const elsewhere: number[] = [];
    for (const idx of requestIdxs) {
      const request = this.#requests.get(idx);
      if (request === undefined && slot !== undefined) this.#forgetForeign(slot);
      const isGivenHere = request?.state === "given" && request.slot === slot;
      if (!isGivenHere) {
        elsewhere.push(idx);
        continue;
      }
      const { expectedMs, isFirstOfWorker: isFirst } = request;
      this.#estimate.note({ tookMs: Math.max(0, nowMs - request.assignedAtMs), expectedMs, isFirst });
      this.#drop(request);
    }
    this.#dispatch(nowMs);
    return elsewhere;
  }

  knows(requestIdx: number): boolean {
    return this.#requests.has(requestIdx);
  }

  /** Forgets a request whose client went on with another server, which counts it from now on. */
  forget(requestIdx: number, nowMs: number): void {
    const request = this.#requests.get(requestIdx);
    if (request === undefined) return;
    this.#drop(request);
    this.#dispatch(nowMs);
  }

  /** Takes a worker's report of its requests; it corrects this router's belief. */
  report(workerId: InstanceId, { currentLoad, workingRequestIdxs }: WorkerReport, nowMs: number): void {
    const slot = this.#slots.find(workerId);
    if (slot === undefined) return;
    slot.reportedAtMs = Math.max(slot.reportedAtMs, nowMs);
    const listed = new Set(workingRequestIdxs);
    this.#dropUnlisted(slot, (request) => listed.has(request.idx), nowMs);
    slot.foreignCount = [...listed].filter((idx) => this.#requests.get(idx)?.slot !== slot).length;
    // Older workers list no requests: their load then includes the requests that this router gave.
    slot.foreignLoad =
      listed.size === 0 ? Math.max(0, currentLoad - slot.load) : (currentLoad * slot.foreignCount) / listed.size;
    this.#slots.refresh(slot, this.#settings.silentAfterMs);
    this.#dispatch(nowMs);
  }

  /** Gives up places and reservations whose clients did not come back. To be called about once a second. */
  expire(nowMs: number): void {
    for (const request of [...this.#waiting, ...this.#reserved]) {
      if (!request.isAttended && request.seenAtMs + PLACE_KEPT_MS <= nowMs) this.#drop(request);
    }
    this.#dispatch(nowMs);
  }

  /** The load that this process gave to a worker and that is not reported as done. */
  loadOf(workerId: InstanceId): { readonly load: number; readonly requestCount: number } {
    const slot = this.#slots.find(workerId);
    return { load: slot?.load ?? 0, requestCount: slot?.requests.size ?? 0 };
  }

  queue(): QueueView {
    return { requestCount: this.#waiting.count, load: this.#waiting.load, oldestMs: this.#waiting.first?.queuedAtMs };
  }

  /** The number of requests before it in the queue, counted up to `limit`; undefined when it is not in the queue. */
  countBefore(requestIdx: number, limit: number): number | undefined {
    const request = this.#requests.get(requestIdx);
    return request?.state === "waiting" ? this.#waiting.countBefore(request, limit) : undefined;
  }

  /** True if requests are held, or if more load arrived within this second than is to be served in one. */
  isPressed(nowMs: number): boolean {
    if (this.#waiting.count > 0) return true;
    const load = this.#counter.loadOfSecond(nowMs);
    return load > 0 && load > this.#slots.perfOpen(nowMs) * this.#settings.targetUtil;
  }

  /** Returns the traffic by second since the last call. */
  takeSamples(): readonly RoutedSecond[] {
    return this.#counter.take();
  }

  putBackSamples(samples: readonly RoutedSecond[]): void {
    this.#counter.putBack(samples);
  }

  /** True if no client depends on this router's memory any more. */
  isIdle(): boolean {
    return this.#requests.size === 0;
  }

  #admit({ requestIdx, cost, replayTimeoutMs }: RouteRequest, nowMs: number): RoutedRequest | "unknown" | "full" {
    const known = requestIdx === 0 ? undefined : this.#requests.get(requestIdx);
    const isSpent = known?.state === "given" && known.assignedAtMs + known.replayTimeoutMs < nowMs;
    if (known !== undefined && !isSpent) {
      if (known.state === "given") this.#takeBack(known, cost, nowMs);
      else known.isTold = true;
      return known;
    }
    if (requestIdx !== 0 && !isSpent && !this.#numbers.mayBeGiven(requestIdx)) return "unknown";
    if (this.#waiting.count >= QUEUE_LENGTH_MAX || this.#requests.size >= this.#requestsMax) return "full";
    // A request that was given away by another server, or that ended without service, was counted when it first came.
    const isNew = requestIdx === 0 || isSpent;
    if (isNew) this.#counter.noteArrival(cost, nowMs);
    const times = { seenAtMs: nowMs, queuedAtMs: nowMs, assignedAtMs: nowMs, expectedMs: 0 };
    const flags = { isAttended: false, isTold: !isNew, isHeld: false, isFirstOfWorker: false };
    const idx = isNew ? this.#numbers.take() : requestIdx;
    const sequence = (this.#cameCount += 1);
    const request: RoutedRequest = {
      ...{ idx, sequence, cost, replayTimeoutMs, state: "waiting" },
      ...times,
      ...flags,
      ...NOWHERE,
    };
    this.#requests.set(request.idx, request);
    this.#waiting.add(request);
    return request;
  }

  /** Takes back a request whose worker did not serve it: another worker is to have it if there is one. */
  #takeBack(request: RoutedRequest, cost: number, nowMs: number): void {
    const { slot } = request;
    invariant(slot !== undefined, "what was given away has a worker");
    this.#slots.release(slot, request);
    request.avoided = slot;
    request.cost = cost;
    request.queuedAtMs = nowMs;
    request.isHeld = false;
    this.#enqueue(request);
  }

  #enqueue(request: RoutedRequest): void {
    request.slot = undefined;
    request.state = "waiting";
    this.#reserved.delete(request);
    this.#waiting.add(request);
  }

  #requeueReserved(slot: WorkerSlot): void {
    for (const request of slot.requests) {
      if (request.state !== "reserved") continue;
      this.#slots.release(slot, request);
      this.#enqueue(request);
    }
  }

  /** Gives requests to workers from the head of the queue, until no worker can take the first one. */
  #dispatch(nowMs: number): void {
    for (let request = this.#waiting.first; request !== undefined; request = this.#waiting.first) {
      const waitMsMax = this.#estimate.waitMsMax(this.#settings.maxQueueTimeMs);
      const slot = this.#slots.choose(request, nowMs, waitMsMax);
      if (slot === undefined) return;
      this.#waiting.remove(request);
      this.#assign(request, slot, nowMs);
      if (request.isAttended) this.#onGiven(this.#give(request, nowMs));
    }
  }

  #assign(request: RoutedRequest, slot: WorkerSlot, nowMs: number): void {
    request.isFirstOfWorker = slot.requests.size === 0 && slot.foreignLoad === 0;
    this.#slots.take(slot, request);
    request.slot = slot;
    request.avoided = undefined;
    request.assignedAtMs = nowMs;
    request.expectedMs = this.#slots.waitMs(slot);
    request.state = "reserved";
    this.#reserved.add(request);
    if (request.isHeld) this.#counter.noteWait(nowMs - request.queuedAtMs, nowMs);
  }

  #give(request: RoutedRequest, nowMs: number): Assignment {
    const { slot, idx, cost } = request;
    invariant(slot !== undefined, "only what has a worker is given away");
    this.#reserved.delete(request);
    request.state = "given";
    request.isAttended = false;
    request.isTold = true;
    request.assignedAtMs = nowMs;
    slot.reqnum = nextReqnum(slot.reqnum, nowMs, this.#numbers.lane);
    const { id: workerId, url } = slot.worker;
    return { requestIdx: idx, workerId, url, cost, reqnum: slot.reqnum };
  }

  #drop(request: RoutedRequest): void {
    if (request.state === "waiting") this.#waiting.remove(request);
    else if (request.slot !== undefined) this.#slots.release(request.slot, request);
    this.#reserved.delete(request);
    this.#requests.delete(request.idx);
    request.slot = undefined;
  }

  #dismiss(slot: WorkerSlot): void {
    this.#requeueReserved(slot);
    for (const request of slot.requests) this.#drop(request);
    this.#slots.remove(slot);
  }

  /** Ends requests that the worker does not list, once their clients cannot still be on the way to it. */
  #dropUnlisted(slot: WorkerSlot, isListed: (request: RoutedRequest) => boolean, nowMs: number): void {
    for (const request of slot.requests) {
      const isDue = request.state === "given" && request.assignedAtMs + request.replayTimeoutMs < nowMs;
      if (isDue && !isListed(request)) this.#drop(request);
    }
  }

  /** Takes in a report that came to another server: it has the amount of work, but not the requests. */
  #learnReport(slot: WorkerSlot, nowMs: number): void {
    const { report } = slot.worker;
    if (report === undefined || report.atMs <= slot.reportedAtMs + REPORT_SPACING_MS) return;
    slot.reportedAtMs = report.atMs;
    if (report.count === 0) this.#dropUnlisted(slot, () => false, nowMs);
    slot.foreignCount = Math.max(0, report.count - slot.requests.size);
    slot.foreignLoad = slot.foreignCount === 0 ? 0 : Math.max(0, report.load - slot.load);
  }

  /** Counts one request of another server as finished: the foreign load falls by the mean of such requests. */
  #forgetForeign(slot: WorkerSlot): void {
    if (slot.foreignCount === 0) return;
    slot.foreignLoad -= slot.foreignLoad / slot.foreignCount;
    slot.foreignCount -= 1;
    this.#slots.refresh(slot, this.#settings.silentAfterMs);
  }
}
