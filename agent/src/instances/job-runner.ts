import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { EngineFailure, Result } from "../engine/engine.ts";
import type { DesiredInstance } from "../wire/messages.ts";
import type { OwnContainer } from "./identity.ts";
import type { Show } from "./jobs.ts";
import type { Activity, Setback } from "./observe.ts";
import { instanceOf, type Action } from "./plan.ts";
import { Setbacks } from "./setbacks.ts";

type Job = {
  /** The order that a creation works for; other jobs are too short to be called off. */
  readonly order: DesiredInstance | undefined;
  readonly abort: AbortController;
  /** Containers about which the engine sent events during the job. */
  readonly missed: Set<string>;
};
type Orders = ReadonlyMap<number, DesiredInstance>;

export type JobRunnerDependencies = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly perform: (action: Action, show: Show, signal: AbortSignal) => Promise<Result<void>>;
  /** Makes everybody let go of the files of an instance that does not run, before it is started or removed. */
  readonly vacate: ((instanceId: number) => Promise<void>) | undefined;
  readonly orderOf: (instanceId: number) => DesiredInstance | undefined;
  readonly onChange: (urgency: "state" | "progress") => void;
  readonly onFailure: (failure: EngineFailure) => void;
  /** A job is over; the engine sent events about `missed` meanwhile. */
  readonly onOver: (missed: ReadonlySet<string>) => void;
};

/** Runs at most one job for each instance, and waits after a setback before the next one. */
export class JobRunner {
  readonly #deps: JobRunnerDependencies;
  readonly #jobs = new Map<number, Job>();
  readonly #activities = new Map<number, Activity>();
  readonly #setbacks: Setbacks;

  constructor(deps: JobRunnerDependencies) {
    this.#deps = deps;
    this.#setbacks = new Setbacks(deps.clock, deps.random);
  }

  /** The steps that jobs are at, by instance. */
  get activities(): ReadonlyMap<number, Activity> {
    return this.#activities;
  }

  get setbacks(): ReadonlyMap<number, Setback> {
    return this.#setbacks.all;
  }

  isBusy(instanceId: number): boolean {
    return this.#jobs.has(instanceId);
  }

  /** Begins an action unless a job runs at its instance, or the last setback is too fresh. */
  offer(action: Action): void {
    const instanceId = instanceOf(action);
    // A stop for a lost lease does not wait for the end of a back-off.
    const isUrgent = action.kind === "stop" && action.reason === "lease";
    if (this.#jobs.has(instanceId) || (!isUrgent && this.#setbacks.isWaiting(instanceId))) return;
    void this.#run(instanceId, action);
  }

  /** True when a job runs at the container's instance: it hears of the event when it is over. */
  takeEvent({ instanceId, container }: OwnContainer): boolean {
    const job = this.#jobs.get(instanceId);
    job?.missed.add(container.id);
    return job !== undefined;
  }

  /** Calls off jobs whose order was replaced, and forgets setbacks of orders that are no longer given. */
  follow(orders: Orders): void {
    for (const [instanceId, job] of this.#jobs) {
      if (job.order && isAbandoned(job.order, orders.get(instanceId))) job.abort.abort();
    }
    this.#setbacks.keepOnly(orders);
  }

  callOffAll(): void {
    for (const job of this.#jobs.values()) job.abort.abort();
  }

  /** The engine is back: every action may be tried at once. */
  forgetSetbacks(): void {
    this.#setbacks.forgetAll();
  }

  async #run(instanceId: number, action: Action): Promise<void> {
    const { log, perform, vacate } = this.#deps;
    const abort = new AbortController();
    const order = action.kind === "create" || action.kind === "start" ? action.order : undefined;
    const generation = order?.generation ?? ("own" in action ? action.own.generation : 0);
    const job: Job = { order: action.kind === "create" ? order : undefined, abort, missed: new Set() };
    this.#jobs.set(instanceId, job);
    const show: Show = (state, text, pull) => {
      const before = this.#activities.get(instanceId);
      this.#activities.set(instanceId, { generation, state, text, ...(pull ? { pull } : {}) });
      this.#deps.onChange(before?.state === state ? "progress" : "state");
    };
    log.info({ instance_id: instanceId, generation, action: action.kind }, "an action begins");
    if (action.kind !== "stop" && action.kind !== "rename") await vacate?.(instanceId);
    const result = await perform(action, show, abort.signal);
    this.#jobs.delete(instanceId);
    this.#activities.delete(instanceId);
    this.#conclude(instanceId, generation, action, result);
    this.#deps.onOver(job.missed);
  }

  #conclude(instanceId: number, generation: number, action: Action, result: Result<void>): void {
    if (result.ok) {
      // A container that is made again is half a success: only its start ends a row of setbacks.
      const isHalf = action.kind === "create" && action.order.run === "running";
      if (!isHalf) this.#setbacks.forget(instanceId);
      return;
    }
    const { failure } = result;
    if (failure.kind === "cancelled") return;
    this.#setbacks.note(instanceId, { generation, failure }, this.#deps.orderOf(instanceId)?.run);
    const about = { instance_id: instanceId, generation, action: action.kind, failure: failure.kind };
    this.#deps.log.warn(about, "an action failed");
    this.#deps.onFailure(failure);
  }
}

/** A job for one order is pointless when the present order differs in what the job makes. */
function isAbandoned(job: DesiredInstance, order: DesiredInstance | undefined): boolean {
  return !order || order.run === "absent" || order.generation !== job.generation || order.revision !== job.revision;
}
