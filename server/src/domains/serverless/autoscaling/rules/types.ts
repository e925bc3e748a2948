import type { EndpointGroupId, InstanceId, MachineId, OfferId, WorkerGroupId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Parameters } from "../../endpoints/rules/parameters.ts";

/** Phases of a worker, as far as scaling needs them. */
export type WorkerPhase =
  /** Rented; its container does not run yet. */
  | "ordered"
  /** Its container runs for the first time, or again after an update; it has not reported that it is ready. */
  | "loading"
  /** Told to start from stopped, not ready yet. */
  | "starting"
  /** Takes requests, unless it drains. */
  | "ready"
  | "stopping"
  | "stopped"
  /** Reported a failure, fell silent, or was not ready in time: it serves no request and still costs. */
  | "failed";

export type DrainTo = "stop" | "destroy" | "update";

/** A worker as the rules see it. Times are milliseconds of Unix time, loads are units, rates are units a second. */
export type WorkerView = {
  readonly id: InstanceId;
  readonly groupId: WorkerGroupId;
  readonly machineId: MachineId;
  readonly phase: WorkerPhase;
  readonly phaseSinceMs: number;
  /** The time at which it was rented. */
  readonly rentedAtMs: number;
  /** Units a second by its own benchmark; undefined until then. */
  readonly claimedPerf: number | undefined;
  /** Units a second that were measured while it always had work; undefined until then. They override a claim that
   * contradicts them. */
  readonly observedPerf: number | undefined;
  readonly dlperf: number;
  /** Price while running, and while stopped (its disk). */
  readonly priceNanosPerHour: Nanos;
  readonly coldPriceNanosPerHour: Nanos;
  /** Load that was routed to it and is not reported as done. */
  readonly load: number;
  readonly requestCount: number;
  /** The last time at which it had work; undefined: never. */
  readonly activeAtMs: number | undefined;
  /** Duration of its last start from stopped, from the order until ready. */
  readonly warmStartMs: number | undefined;
  readonly draining: { readonly to: DrainTo; readonly sinceMs: number } | undefined;
  /** True if it was made from an earlier recipe than its group has now. */
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
  /** Median start times of its workers: of first starts, and of starts from stopped. Undefined until there was one. */
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
  /** Samples of the last hour at least, oldest first. */
  readonly samples: readonly LoadSample[];
  readonly queue: QueueView;
  /** The reason why nothing may be rented or started now, such as a cap or a balance, and until when. */
  readonly spendingStop: { readonly untilMs: number; readonly reason: string } | undefined;
  readonly createdAtMs: number;
};

/** An order, with its reason in a few words for people. */
export type Action = { readonly why: string } & (
  | { readonly kind: "rent"; readonly groupId: WorkerGroupId; readonly offerId: OfferId; readonly machineId: MachineId }
  /** `update` recreates the worker from the present recipe of its group; a stopped one stays stopped. */
  | { readonly kind: "start" | "stop" | "destroy" | "update" | "undrain"; readonly workerId: InstanceId }
  | { readonly kind: "drain"; readonly workerId: InstanceId; readonly to: DrainTo }
);

/** The figures a decision came from, in units a second and counts; stored and shown with it. */
export type Targets = {
  /** Load that is expected to arrive within the time a worker needs to become ready. */
  readonly anticipatedLoad: number;
  readonly hotTarget: number;
  readonly totalTarget: number;
  /** Performance of workers that are ready, or will be. */
  readonly hotPerf: number;
  readonly totalPerf: number;
  readonly hotCount: number;
  readonly totalCount: number;
  readonly queuedCount: number;
};

export type Decision = {
  readonly targets: Targets;
  readonly actions: readonly Action[];
  /**
   * One sentence in plain words: the situation, and what follows. Equal for equal kinds of situations, but for
   * figures.
   */
  readonly sentence: string;
  /** The kind of situation, such as `steady`, `scale_up`, `learning`, `backing_off`: its change is stored. */
  readonly reason: string;
};
