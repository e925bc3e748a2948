import type { InstanceId, MachineId, WorkerGroupId } from "../../../base/ids.ts";
import type { MachinesFor } from "../../rental/instances/for-serverless.ts";
import type { Wish } from "../../rental/instances/index.ts";
import type { LoadSample, OfferView, Situation } from "../autoscaling/rules/types.ts";
import type { Fleet } from "../history/rules/fleet.ts";

/** The settings with which a worker of a group is rented. */
export type GroupWish = {
  readonly generation: number;
  /** The search as its owner gave it; it may change without a new recipe. */
  readonly searchParams: string;
  readonly wish: Wish;
  /** The part of the search for offers that follows from the recipe and its template. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The machines that allow the registry of its image; undefined for an image that every machine may pull. */
  readonly machinesFor: MachinesFor | undefined;
  readonly readAtMs: number;
};

/** A server's memory of an endpoint between two looks at it. A server that loses it reads it again. */
export class EndpointMemory {
  samples: readonly LoadSample[] = [];
  /** The reason of the last stored decision; `decidedAtMs` is its time. Undefined until both were read. */
  reason: string | undefined;
  decidedAtMs: number | undefined;
  /** The workers as this server stored them last. */
  fleet: { readonly fleet: Fleet; readonly atMs: number } | undefined;
  /** The sentence why a group cannot rent; it is logged when it changes. */
  readonly refusals = new Map<WorkerGroupId, string>();
  spending: { readonly untilMs: number; readonly reason: string; readonly count: number } | undefined;
  readonly wishes = new Map<WorkerGroupId, GroupWish>();
  /** The offers of the last search for each group. */
  readonly found = new Map<WorkerGroupId, { readonly offers: readonly OfferView[]; readonly untilMs: number }>();
  /** Keys of notifications about waits for a lower price that were sent: they need no second look. */
  readonly toldWaits = new Set<string>();
  readonly dlperf = new Map<InstanceId, number>();
  /**
   * Machines that this endpoint just rented on, or that just refused: left alone until their present offers are known
   * here.
   */
  readonly restingMachines = new Rests<MachineId>();
  readonly restingGroups = new Rests<WorkerGroupId>();
  readonly restingWorkers = new Rests<InstanceId>();

  /** Deletes the memory of groups that are gone. */
  keepGroups(ids: ReadonlySet<WorkerGroupId>): void {
    for (const kept of [this.wishes, this.found, this.refusals])
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  }

  spendingStopAt(nowMs: number): Situation["spendingStop"] {
    return this.spending !== undefined && this.spending.untilMs > nowMs ? this.spending : undefined;
  }

  /** Pauses orders after a refusal for lack of money; each further refusal in a row lengthens the pause. */
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

/** Ids that are left alone until a time. Expired ids are forgotten at the next addition. */
export class Rests<Id> {
  readonly #untilMs = new Map<Id, number>();

  get count(): number {
    return this.#untilMs.size;
  }

  add(id: Id, { nowMs, forMs }: { readonly nowMs: number; readonly forMs: number }): void {
    for (const [known, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(known);
    this.#untilMs.set(id, nowMs + forMs);
  }

  has(id: Id, nowMs: number): boolean {
    return (this.#untilMs.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs;
  }
}
