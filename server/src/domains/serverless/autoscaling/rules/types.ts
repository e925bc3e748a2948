import type { EndpointGroupId, InstanceId, MachineId, OfferId, WorkerGroupId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Parameters } from "../../endpoints/rules/parameters.ts";

/** What a worker is doing, as far as scaling cares. */
export type WorkerPhase =
  /** Rented; its container does not run yet. */
  | "ordered"
  /** Its container runs for the first time, or anew after an update; it has not said that it is ready. */
  | "loading"
  /** Told to start from stopped, not ready yet. */
  | "starting"
  /** Takes requests, unless it drains. */
  | "ready"
  | "stopping"
  | "stopped"
  /** Said that it failed, fell silent, or did not become ready in time: it serves nobody and still costs. */
  | "failed";

export type DrainTo = "stop" | "destroy" | "update";

/** A worker as the rules see it. Times are milliseconds of Unix time, loads are units, rates are units a second. */
export type WorkerView = {
  readonly id: InstanceId;
  readonly groupId: WorkerGroupId;
  readonly machineId: MachineId;
  readonly phase: WorkerPhase;
  readonly phaseSinceMs: number;
  /** When it was rented. */
  readonly rentedAtMs: number;
  /** What it says it can serve; undefined until its benchmark. */
  readonly claimedPerf: number | undefined;
  /** What it was seen to serve while it always had work; undefined until then. Counts against what it claims. */
  readonly observedPerf: number | undefined;
  readonly dlperf: number;
  /** While running, and while stopped (its disk). */
  readonly priceNanosPerHour: Nanos;
  readonly coldPriceNanosPerHour: Nanos;
  /** Routed to it and not reported as done. */
  readonly load: number;
  readonly requestCount: number;
  /** When it had work last; undefined: never. */
  readonly activeAtMs: number | undefined;
  /** From the order to start until ready, of its last start from stopped. */
  readonly warmStartMs: number | undefined;
  readonly draining: { readonly to: DrainTo; readonly sinceMs: number } | undefined;
  /** Made from an earlier recipe than its group has now. */
  readonly isOutdated: boolean;
  readonly failure: string;
};

export type GroupView = {
  readonly id: WorkerGroupId;
  readonly coldWorkers: number;
  readonly maxWorkers: number;
  readonly testWorkers: number;
  /** Offers that cost more an hour are not rented; undefined: no maximum. */
  readonly maxNanosPerHour: Nanos | undefined;
  readonly isUpdating: boolean;
  /** Workers that failed in a row; nothing is rented before `resumesAtMs`. */
  readonly failureCount: number;
  readonly resumesAtMs: number | undefined;
  /** Median of what its workers took: from a first order, and from stopped. Undefined until one did. */
  readonly firstStartMs: number | undefined;
  readonly warmStartMs: number | undefined;
};

/** An offer that matches the search of a group. */
export type OfferView = {
  readonly offerId: OfferId;
  readonly groupId: WorkerGroupId;
  readonly machineId: MachineId;
  readonly dlperf: number;
  readonly priceNanosPerHour: Nanos;
  readonly coldPriceNanosPerHour: Nanos;
  readonly reliability: number;
};

/** Traffic of one second; seconds without any are left out. */
export type LoadSample = {
  readonly secondMs: number;
  readonly requestCount: number;
  readonly load: number;
  readonly waitedCount: number;
  readonly waitMsMax: number;
};

/** Requests that no worker could take yet. */
export type QueueView = { readonly requestCount: number; readonly load: number; readonly oldestMs: number | undefined };

/** Everything that a decision depends on: the same situation gives the same decision. */
export type Situation = {
  readonly nowMs: number;
  readonly endpointId: EndpointGroupId;
  readonly parameters: Omit<Parameters, "name">;
  readonly groups: readonly GroupView[];
  readonly workers: readonly WorkerView[];
  readonly offers: readonly OfferView[];
  /** Oldest first, of the last hour at least. */
  readonly samples: readonly LoadSample[];
  readonly queue: QueueView;
  /** Why nothing may be rented or started now, such as a cap or a balance, and until when. */
  readonly spendingStop: { readonly untilMs: number; readonly reason: string } | undefined;
  readonly createdAtMs: number;
};

/** What to do, each with its reason in a few words for people. */
export type Action = { readonly why: string } & (
  | { readonly kind: "rent"; readonly groupId: WorkerGroupId; readonly offerId: OfferId; readonly machineId: MachineId }
  /** `update` takes the present recipe of its group; a stopped one keeps stopped. */
  | { readonly kind: "start" | "stop" | "destroy" | "update" | "undrain"; readonly workerId: InstanceId }
  | { readonly kind: "drain"; readonly workerId: InstanceId; readonly to: DrainTo }
);

/** The figures a decision came from, in units a second and counts; stored and shown with it. */
export type Targets = {
  /** What is expected to arrive within the time a worker needs to become ready. */
  readonly anticipatedLoad: number;
  readonly hotTarget: number;
  readonly totalTarget: number;
  /** Of workers that are ready, or will be. */
  readonly hotPerf: number;
  readonly totalPerf: number;
  readonly hotCount: number;
  readonly totalCount: number;
  readonly queuedCount: number;
};

export type Decision = {
  readonly targets: Targets;
  readonly actions: readonly Action[];
  /** One sentence in plain words: what is seen, what follows. The same for the same kind of situation, but for figures. */
  readonly sentence: string;
  /** Names the kind of situation, such as `steady`, `scale_up`, `learning`, `backing_off`: what is stored is its change. */
  readonly reason: string;
};
