import type { InstanceId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { QueueView } from "../autoscaling/rules/types.ts";
import { LoadCounter, type RoutedSecond } from "./load-counter.ts";
import { nextReqnum } from "./reqnum.ts";
import type { RequestNumbers } from "./request-numbers.ts";
import type { RoutedRequest } from "./routed-request.ts";
import { ServiceEstimate } from "./service-estimate.ts";
import { WaitingLine } from "./request-queue.ts";
import { WorkerSlots, type RoutableWorker, type WorkerSlot } from "./worker-slots.ts";

export type RouterSettings = {
  /** A worker with more work than it serves in this time gets no more. */
  readonly maxQueueTimeMs: number;
  /** A worker that has not reported for so long gets nothing; `Infinity` where workers do not report. */
  readonly silentAfterMs: number;
  /** Share of what the workers can serve that is to be used. */
  readonly targetUtil: number;
};

export type RouteRequest = {
  /** The number that its client was told before; 0 for a new one. */
  readonly requestIdx: number;
  /** In units. */
  readonly cost: number;
  /** For how long after it was given away it may come back under its number. */
  readonly replayTimeoutMs: number;
};

export type Assignment = {
  readonly requestIdx: number;
  readonly workerId: InstanceId;
  readonly url: string;
  readonly cost: number;
  /** Rises with each request that this worker is given, and is none that another server gives it. */
  readonly reqnum: number;
};

export type RouteAnswer =
  | { readonly kind: "given"; readonly assignment: Assignment }
  /** It stands in line: `onGiven` is called for it, unless `leave` was called before. */
  | { readonly kind: "held"; readonly requestIdx: number }
  /** Nobody was ever told this number. */
  | { readonly kind: "unknown" }
  /** The line is as long as it may be, or as many were given away as may be remembered. */
  | { readonly kind: "full" };

export type WorkerReport = { readonly currentLoad: number; readonly workingRequestIdxs: readonly number[] };

/** Clients poll each five seconds at most; who stays away twice as long has given up. */
export const PLACE_KEPT_MS = 10_000;
const LINE_LENGTH_MAX = 100_000;
/** Those that were given away count too: none of them must cost more than memory that we have. */
const REQUESTS_MAX = 500_000;
/** A report is newer than another if it is more than this later: both servers' clocks may have stamped the same one. */
const REPORT_SPACING_MS = 500;
const NOWHERE = { slot: undefined, avoided: undefined, previous: undefined, next: undefined } as const;

/**
 * Which worker of one endpoint each request goes to. A request that no worker can take stands in line, first come first
 * served, and keeps its place while its client is between two polls; a worker that becomes free then is reserved for it.
 * All is in memory and without I/O; what happens depends on the calls and their times alone, so a simulation sees the same.
 */
export class EndpointRouter {
  private settings: RouterSettings;
  private readonly numbers: RequestNumbers;
  private readonly onGiven: (assignment: Assignment) => void;
  private readonly requests = new Map<number, RoutedRequest>();
  private readonly reserved = new Set<RoutedRequest>();
  private readonly line = new WaitingLine();
  private readonly slots = new WorkerSlots();
  private readonly counter = new LoadCounter();
  private readonly estimate = new ServiceEstimate();
  private cameCount = 0;
  private readonly requestsMax: number;

  constructor(
    settings: RouterSettings,
    {
      numbers,
      onGiven,
      requestsMax = REQUESTS_MAX,
    }: {
      readonly numbers: RequestNumbers;
      /** A held request whose client is on the line has its worker. */
      readonly onGiven: (assignment: Assignment) => void;
      /** So many are remembered, waiting or given away. */
      readonly requestsMax?: number;
    },
  ) {
    this.settings = settings;
    this.numbers = numbers;
    this.onGiven = onGiven;
    this.requestsMax = requestsMax;
  }

  configure(settings: RouterSettings, nowMs: number): void {
    this.settings = settings;
    for (const slot of this.slots.all) this.slots.refresh(slot, settings.silentAfterMs);
    this.dispatch(nowMs);
  }

  /** All workers there are; what those had that are gone is forgotten, since nobody will report it any more. */
  setWorkers(workers: readonly RoutableWorker[], nowMs: number): void {
    const present = new Set(workers.map(({ id }) => id));
    for (const slot of this.slots.all.filter(({ worker }) => !present.has(worker.id))) this.dismiss(slot);
    for (const worker of workers) {
      const slot = this.slots.find(worker.id) ?? this.slots.add(worker);
      slot.worker = worker;
      this.learnReport(slot, nowMs);
      this.slots.refresh(slot, this.settings.silentAfterMs);
      if (!this.slots.isRoutable(slot, nowMs)) this.requeueReserved(slot);
    }
    this.dispatch(nowMs);
  }

  /** A new request, a poll of one that is held, or one whose client was not served where it was sent. */
  route(asked: RouteRequest, nowMs: number): RouteAnswer {
    const request = this.admit(asked, nowMs);
    if (request === "unknown" || request === "full") return { kind: request };
    request.seenAtMs = nowMs;
    request.replayTimeoutMs = asked.replayTimeoutMs;
    // Not told of by `dispatch`, since the answer to this call tells it.
    request.isAttended = false;
    const { slot } = request;
    if (request.state === "reserved" && slot && !this.slots.isRoutable(slot, nowMs)) this.requeueReserved(slot);
    this.dispatch(nowMs);
    if (request.state === "reserved") return { kind: "given", assignment: this.give(request, nowMs) };
    request.isAttended = true;
    request.isHeld = true;
    return { kind: "held", requestIdx: request.idx };
  }

  /** The client of a held request hung up, or was told to come again: then it knows its number and keeps its place. */
  leave(requestIdx: number, { isTold }: { readonly isTold: boolean }, nowMs: number): void {
    const request = this.requests.get(requestIdx);
    if (request === undefined || request.state === "given") return;
    request.isAttended = false;
    request.seenAtMs = nowMs;
    request.isTold ||= isTold;
    if (!request.isTold) this.drop(request);
    this.dispatch(nowMs);
  }

  /** The worker is done with these. Those that other servers may have given to it are returned. */
  finish(workerId: InstanceId, requestIdxs: readonly number[], nowMs: number): readonly number[] {
    const slot = this.slots.find(workerId);
    const elsewhere: number[] = [];
    for (const idx of requestIdxs) {
      const request = this.requests.get(idx);
      if (request === undefined && slot !== undefined) this.forgetForeign(slot);
      const isGivenHere = request?.state === "given" && request.slot === slot;
      if (!isGivenHere) {
        elsewhere.push(idx);
        continue;
      }
      const { expectedMs, isFirstOfWorker: isFirst } = request;
      this.estimate.note({ tookMs: Math.max(0, nowMs - request.assignedAtMs), expectedMs, isFirst });
      this.drop(request);
    }
    this.dispatch(nowMs);
    return elsewhere;
  }

  knows(requestIdx: number): boolean {
    return this.requests.has(requestIdx);
  }

  /** The client went on with another server, which counts it from now on. */
  forget(requestIdx: number, nowMs: number): void {
    const request = this.requests.get(requestIdx);
    if (request === undefined) return;
    this.drop(request);
    this.dispatch(nowMs);
  }

  /** What a worker says that it has; it corrects what this router believes. */
  report(workerId: InstanceId, { currentLoad, workingRequestIdxs }: WorkerReport, nowMs: number): void {
    const slot = this.slots.find(workerId);
    if (slot === undefined) return;
    slot.reportedAtMs = Math.max(slot.reportedAtMs, nowMs);
    const listed = new Set(workingRequestIdxs);
    this.dropUnlisted(slot, (request) => listed.has(request.idx), nowMs);
    slot.foreignCount = [...listed].filter((idx) => this.requests.get(idx)?.slot !== slot).length;
    // Older workers list nothing: then what this router gave is part of what they have.
    slot.foreignLoad =
      listed.size === 0 ? Math.max(0, currentLoad - slot.load) : (currentLoad * slot.foreignCount) / listed.size;
    this.slots.refresh(slot, this.settings.silentAfterMs);
    this.dispatch(nowMs);
  }

  /** Gives up places and reservations whose clients did not come back. To be called about once a second. */
  expire(nowMs: number): void {
    for (const request of [...this.line, ...this.reserved]) {
      if (!request.isAttended && request.seenAtMs + PLACE_KEPT_MS <= nowMs) this.drop(request);
    }
    this.dispatch(nowMs);
  }

  /** What this process gave to a worker and has not heard the end of. */
  loadOf(workerId: InstanceId): { readonly load: number; readonly requestCount: number } {
    const slot = this.slots.find(workerId);
    return { load: slot?.load ?? 0, requestCount: slot?.requests.size ?? 0 };
  }

  queue(): QueueView {
    return { requestCount: this.line.count, load: this.line.load, oldestMs: this.line.first?.queuedAtMs };
  }

  /** How many stand before it, counted up to `limit`; undefined when it does not stand in line. */
  countBefore(requestIdx: number, limit: number): number | undefined {
    const request = this.requests.get(requestIdx);
    return request?.state === "waiting" ? this.line.countBefore(request, limit) : undefined;
  }

  /** Requests are held, or more has come within this second than is to be served in one. */
  isPressed(nowMs: number): boolean {
    if (this.line.count > 0) return true;
    const load = this.counter.loadOfSecond(nowMs);
    return load > 0 && load > this.slots.perfOpen(nowMs) * this.settings.targetUtil;
  }

  /** Traffic by second that was not taken yet. */
  takeSamples(): readonly RoutedSecond[] {
    return this.counter.take();
  }

  putBackSamples(samples: readonly RoutedSecond[]): void {
    this.counter.putBack(samples);
  }

  /** Whether anybody still depends on what is remembered here. */
  isIdle(): boolean {
    return this.requests.size === 0;
  }

  private admit(
    { requestIdx, cost, replayTimeoutMs }: RouteRequest,
    nowMs: number,
  ): RoutedRequest | "unknown" | "full" {
    const known = requestIdx === 0 ? undefined : this.requests.get(requestIdx);
    const isSpent = known?.state === "given" && known.assignedAtMs + known.replayTimeoutMs < nowMs;
    if (known !== undefined && !isSpent) {
      if (known.state === "given") this.takeBack(known, cost, nowMs);
      else known.isTold = true;
      return known;
    }
    if (requestIdx !== 0 && !isSpent && !this.numbers.mayBeGiven(requestIdx)) return "unknown";
    if (this.line.count >= LINE_LENGTH_MAX || this.requests.size >= this.requestsMax) return "full";
    // One that was given elsewhere, or that is over and was not served, was counted when it came first.
    const isNew = requestIdx === 0 || isSpent;
    if (isNew) this.counter.noteArrival(cost, nowMs);
    const times = { seenAtMs: nowMs, queuedAtMs: nowMs, assignedAtMs: nowMs, expectedMs: 0 };
    const flags = { isAttended: false, isTold: !isNew, isHeld: false, isFirstOfWorker: false };
    const idx = isNew ? this.numbers.take() : requestIdx;
    const sequence = (this.cameCount += 1);
    const request: RoutedRequest = {
      ...{ idx, sequence, cost, replayTimeoutMs, state: "waiting" },
      ...times,
      ...flags,
      ...NOWHERE,
    };
    this.requests.set(request.idx, request);
    this.line.add(request);
    return request;
  }

  /** Its client was not served: another worker is to have it if there is one. */
  private takeBack(request: RoutedRequest, cost: number, nowMs: number): void {
    const { slot } = request;
    invariant(slot !== undefined, "what was given away has a worker");
    this.slots.release(slot, request);
    request.avoided = slot;
    request.cost = cost;
    request.queuedAtMs = nowMs;
    request.isHeld = false;
    this.putInLine(request);
  }

  private putInLine(request: RoutedRequest): void {
    request.slot = undefined;
    request.state = "waiting";
    this.reserved.delete(request);
    this.line.add(request);
  }

  private requeueReserved(slot: WorkerSlot): void {
    for (const request of slot.requests) {
      if (request.state !== "reserved") continue;
      this.slots.release(slot, request);
      this.putInLine(request);
    }
  }

  /** Gives to the first in line for as long as there is a worker for it. */
  private dispatch(nowMs: number): void {
    for (let request = this.line.first; request !== undefined; request = this.line.first) {
      const waitMsMax = this.estimate.waitMsMax(this.settings.maxQueueTimeMs);
      const slot = this.slots.choose(request, nowMs, waitMsMax);
      if (slot === undefined) return;
      this.line.remove(request);
      this.assign(request, slot, nowMs);
      if (request.isAttended) this.onGiven(this.give(request, nowMs));
    }
  }

  private assign(request: RoutedRequest, slot: WorkerSlot, nowMs: number): void {
    request.isFirstOfWorker = slot.requests.size === 0 && slot.foreignLoad === 0;
    this.slots.take(slot, request);
    request.slot = slot;
    request.avoided = undefined;
    request.assignedAtMs = nowMs;
    request.expectedMs = this.slots.waitMs(slot);
    request.state = "reserved";
    this.reserved.add(request);
    if (request.isHeld) this.counter.noteWait(nowMs - request.queuedAtMs, nowMs);
  }

  private give(request: RoutedRequest, nowMs: number): Assignment {
    const { slot, idx, cost } = request;
    invariant(slot !== undefined, "only what has a worker is given away");
    this.reserved.delete(request);
    request.state = "given";
    request.isAttended = false;
    request.isTold = true;
    request.assignedAtMs = nowMs;
    slot.reqnum = nextReqnum(slot.reqnum, nowMs, this.numbers.lane);
    const { id: workerId, url } = slot.worker;
    return { requestIdx: idx, workerId, url, cost, reqnum: slot.reqnum };
  }

  private drop(request: RoutedRequest): void {
    if (request.state === "waiting") this.line.remove(request);
    else if (request.slot !== undefined) this.slots.release(request.slot, request);
    this.reserved.delete(request);
    this.requests.delete(request.idx);
    request.slot = undefined;
  }

  private dismiss(slot: WorkerSlot): void {
    this.requeueReserved(slot);
    for (const request of slot.requests) this.drop(request);
    this.slots.remove(slot);
  }

  /** What a worker no longer lists is over, once its client cannot still be on its way there. */
  private dropUnlisted(slot: WorkerSlot, isListed: (request: RoutedRequest) => boolean, nowMs: number): void {
    for (const request of slot.requests) {
      const isDue = request.state === "given" && request.assignedAtMs + request.replayTimeoutMs < nowMs;
      if (isDue && !isListed(request)) this.drop(request);
    }
  }

  /** Takes in a report that came to another server: how much there is, but not which. */
  private learnReport(slot: WorkerSlot, nowMs: number): void {
    const { report } = slot.worker;
    if (report === undefined || report.atMs <= slot.reportedAtMs + REPORT_SPACING_MS) return;
    slot.reportedAtMs = report.atMs;
    if (report.count === 0) this.dropUnlisted(slot, () => false, nowMs);
    slot.foreignCount = Math.max(0, report.count - slot.requests.size);
    slot.foreignLoad = slot.foreignCount === 0 ? 0 : Math.max(0, report.load - slot.load);
  }

  /** Something that others gave is over: its share of what they gave goes with it. */
  private forgetForeign(slot: WorkerSlot): void {
    if (slot.foreignCount === 0) return;
    slot.foreignLoad -= slot.foreignLoad / slot.foreignCount;
    slot.foreignCount -= 1;
    this.slots.refresh(slot, this.settings.silentAfterMs);
  }
}
