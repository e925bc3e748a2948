import type { InstanceId, MachineId, WorkerGroupId } from "../../../base/ids.ts";
import type { MachinesFor, Wish } from "../../rental/instances/index.ts";
import type { LoadSample, OfferView, Situation } from "../autoscaling/rules/types.ts";

/** What a worker of a group is rented with. */
export type GroupWish = {
  readonly generation: number;
  /** The search as its owner gave it; it may change without another recipe. */
  readonly searchParams: string;
  readonly wish: Wish;
  /** The search for offers, as far as it follows from the recipe and its template. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The machines that allow the registry of its image; undefined for an image that every machine may pull. */
  readonly machinesFor: MachinesFor | undefined;
  readonly readAtMs: number;
};

/** What a server keeps of an endpoint between two looks at it. All of it can be lost: then it is learnt again. */
export class EndpointMemory {
  samples: readonly LoadSample[] = [];
  /** Of the last decision that was stored, and when that was; undefined until it was looked up. */
  reason: string | undefined;
  decidedAtMs: number | undefined;
  /** Why groups cannot be rented for: told when it changes. */
  readonly refusals = new Map<WorkerGroupId, string>();
  spending: { readonly untilMs: number; readonly reason: string; readonly count: number } | undefined;
  readonly wishes = new Map<WorkerGroupId, GroupWish>();
  /** What the last search for each group came to. */
  readonly found = new Map<WorkerGroupId, { readonly offers: readonly OfferView[]; readonly untilMs: number }>();
  /** Keys of notices about waits for a lower price that were told: they need no second look. */
  readonly toldWaits = new Set<string>();
  readonly dlperf = new Map<InstanceId, number>();
  /** Rented on or refused us just now: left alone until what is offered now is known here. */
  readonly restingMachines = new Rests<MachineId>();
  readonly restingGroups = new Rests<WorkerGroupId>();
  readonly restingWorkers = new Rests<InstanceId>();

  /** Keeps nothing of groups that are gone. */
  keepGroups(ids: ReadonlySet<WorkerGroupId>): void {
    for (const kept of [this.wishes, this.found, this.refusals])
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  }

  spendingStopAt(nowMs: number): Situation["spendingStop"] {
    return this.spending !== undefined && this.spending.untilMs > nowMs ? this.spending : undefined;
  }

  /** Nothing can be paid now: nothing is ordered for a while, and for longer each time. */
  stopSpending(nowMs: number, reason: string): void {
    const count = (this.spending?.count ?? 0) + 1;
    const ms = Math.min(SPENDING_STOP_FIRST_MS * 2 ** Math.min(count - 1, 10), SPENDING_STOP_MAX_MS);
    this.spending = { untilMs: nowMs + ms, reason, count };
  }

  resumeSpending(): void {
    this.spending = undefined;
  }
}

const SPENDING_STOP_FIRST_MS = 30_000;
const SPENDING_STOP_MAX_MS = 300_000;

/** What is to be left alone, and until when. Whatever is not asked for again is forgotten with the next one. */
export class Rests<Id> {
  private readonly untilMs = new Map<Id, number>();

  get count(): number {
    return this.untilMs.size;
  }

  add(id: Id, { nowMs, forMs }: { readonly nowMs: number; readonly forMs: number }): void {
    for (const [known, untilMs] of this.untilMs) if (untilMs <= nowMs) this.untilMs.delete(known);
    this.untilMs.set(id, nowMs + forMs);
  }

  has(id: Id, nowMs: number): boolean {
    return (this.untilMs.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs;
  }
}
