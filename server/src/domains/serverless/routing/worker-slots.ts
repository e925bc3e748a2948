import { invariant } from "../../../base/invariant.ts";
import type { InstanceId } from "../../../base/ids.ts";
import { REQNUM_NONE } from "./reqnum.ts";
import type { RoutableWorker, RoutedRequest, WorkerSlot } from "./routed-request.ts";

/** The least performance: so low that the worker takes one request after the other. */
const PERF_MIN = 1e-6;
const NEVER = -Infinity;

/**
 * The workers of an endpoint, with the numbers for choosing one in plain arrays: a scan of a thousand workers takes
 * about a microsecond, and is right for every cost and every mix of speeds, unlike any order that is kept in advance.
 */
export class WorkerSlots {
  readonly #byId = new Map<InstanceId, WorkerSlot>();
  readonly #slots: WorkerSlot[] = [];
  #busy = new Float64Array(8);
  #secondsPerUnit = new Float64Array(8);
  #openUntilMs = new Float64Array(8);
  #isOutdated = new Uint8Array(8);

  get all(): readonly WorkerSlot[] {
    return this.#slots;
  }

  find(id: InstanceId): WorkerSlot | undefined {
    return this.#byId.get(id);
  }

  /** Adds a worker without any report. */
  add(worker: RoutableWorker): WorkerSlot {
    const place = this.#slots.length;
    const nothing = { load: 0, foreignLoad: 0, foreignCount: 0, reportedAtMs: NEVER };
    const slot = { worker, place, requests: new Set<RoutedRequest>(), reqnum: REQNUM_NONE, ...nothing };
    this.#slots.push(slot);
    this.#byId.set(worker.id, slot);
    if (this.#slots.length > this.#busy.length) this.#grow();
    return slot;
  }

  /** Removes a worker; the last one takes its place in the arrays. */
  remove(slot: WorkerSlot): void {
    const last = this.#slots.pop();
    invariant(last !== undefined && this.#byId.delete(slot.worker.id), "only a worker that is there is removed");
    if (last === slot) return;
    const { place } = slot;
    this.#slots[place] = last;
    for (const column of [this.#busy, this.#secondsPerUnit, this.#openUntilMs, this.#isOutdated]) {
      column[place] = column[last.place] ?? 0;
    }
    last.place = place;
  }

  /** To be called after each change of a worker. */
  refresh(slot: WorkerSlot, silentAfterMs: number): void {
    const { worker, place } = slot;
    this.#busy[place] = slot.load + slot.foreignLoad;
    this.#secondsPerUnit[place] = 1 / Math.max(PERF_MIN, worker.perf);
    const isOpen = worker.isReady && !worker.isDraining;
    // A fleet without reports: a worker without a report is as good as any.
    const closesAtMs = silentAfterMs === Infinity ? Infinity : slot.reportedAtMs + silentAfterMs;
    this.#openUntilMs[place] = isOpen ? closesAtMs : NEVER;
    this.#isOutdated[place] = worker.isOutdated ? 1 : 0;
  }

  take(slot: WorkerSlot, request: RoutedRequest): void {
    slot.requests.add(request);
    slot.load += request.cost;
    this.#busy[slot.place] = slot.load + slot.foreignLoad;
  }

  release(slot: WorkerSlot, request: RoutedRequest): void {
    invariant(slot.requests.delete(request), "only what a worker has is released");
    // Sums of fractions drift; no requests weigh exactly nothing.
    slot.load = slot.requests.size === 0 ? 0 : Math.max(0, slot.load - request.cost);
    this.#busy[slot.place] = slot.load + slot.foreignLoad;
  }

  isRoutable(slot: WorkerSlot, nowMs: number): boolean {
    return (this.#openUntilMs[slot.place] ?? NEVER) > nowMs;
  }

  /** The time that the worker needs for the requests that it has. */
  waitMs(slot: WorkerSlot): number {
    return (this.#busy[slot.place] ?? 0) * (this.#secondsPerUnit[slot.place] ?? 0) * 1000;
  }

  /** Total units a second of the workers that take requests now. */
  perfOpen(nowMs: number): number {
    let sum = 0;
    for (let place = 0; place < this.#slots.length; place += 1) {
      if ((this.#openUntilMs[place] ?? NEVER) > nowMs) sum += 1 / (this.#secondsPerUnit[place] ?? Infinity);
    }
    return sum;
  }

  /**
   * Chooses the worker that would be done first with a request of this cost, among those with at most `waitMsMax` of
   * work; an idle worker always qualifies. Up-to-date workers come before outdated ones, and the avoided worker comes
   * last.
   */
  choose(
    { cost, avoided }: { readonly cost: number; readonly avoided: WorkerSlot | undefined },
    nowMs: number,
    waitMsMax: number,
  ): WorkerSlot | undefined {
    const secondsMax = waitMsMax / 1000;
    const skipped = avoided !== undefined && this.#slots[avoided.place] === avoided ? avoided.place : -1;
    let best = -1;
    let bestSeconds = Infinity;
    let bestTier = 2;
    for (let place = 0; place < this.#slots.length; place += 1) {
      if ((this.#openUntilMs[place] ?? NEVER) <= nowMs || place === skipped) continue;
      const tier = this.#isOutdated[place] ?? 0;
      if (tier > bestTier) continue;
      const busy = this.#busy[place] ?? 0;
      const perUnit = this.#secondsPerUnit[place] ?? 0;
      if (busy * perUnit > secondsMax) continue;
      const seconds = (busy + cost) * perUnit;
      if (tier === bestTier && seconds >= bestSeconds) continue;
      [best, bestSeconds, bestTier] = [place, seconds, tier];
    }
    if (best !== -1) return this.#slots[best];
    const isLastResort = skipped !== -1 && avoided !== undefined && this.isRoutable(avoided, nowMs);
    return isLastResort && this.waitMs(avoided) <= waitMsMax ? avoided : undefined;
  }

  #grow(): void {
    const size = this.#busy.length * 2;
    const widened = (column: Float64Array) => {
      const wider = new Float64Array(size);
      wider.set(column);
      return wider;
    };
    this.#busy = widened(this.#busy);
    this.#secondsPerUnit = widened(this.#secondsPerUnit);
    this.#openUntilMs = widened(this.#openUntilMs);
    const outdated = new Uint8Array(size);
    outdated.set(this.#isOutdated);
    this.#isOutdated = outdated;
  }
}
