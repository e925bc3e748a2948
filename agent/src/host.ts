import type { Desired, DesiredInstance, ObservedInstance } from "../../protocol/index.ts";
import type { Clock } from "./clock.ts";
import type { Container, Engine, EngineEvent, EngineFailure, Result } from "./engine.ts";
import type { SpecContext } from "./container-spec.ts";
import { LABEL_HOST, readIdentity, type OwnContainer } from "./identity.ts";
import { createContainer, renameContainer, startContainer, type JobContext, type Show } from "./jobs.ts";
import type { Log } from "./log.ts";
import { meterKey, Meters } from "./meters.ts";
import type { Notes } from "./notes.ts";
import { observe, type Activity } from "./observe.ts";
import { instanceOf, plan, type Action, type StopReason } from "./plan.ts";
import { portKey, type PortProbe, type PortRange } from "./ports.ts";
import { Setbacks } from "./setbacks.ts";

export type HostSettings = {
  readonly spec: SpecContext;
  readonly port_range: PortRange;
  /** How long a process may take to end after a polite signal. */
  readonly stop_grace_ms: number;
  /** The same after a lost lease: the machine may be sold again soon. */
  readonly lease_grace_ms: number;
};

export type HostDependencies = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly settings: HostSettings;
  readonly random: () => number;
  readonly isPortFree: PortProbe;
  readonly log: Log;
  readonly notes: Notes | undefined;
  /** `state` should be reported at once, `progress` when convenient. */
  readonly onChange: (urgency: "state" | "progress") => void;
};

const RESYNC_EVERY_MS = 30_000;
const RESYNC_AFTER_SILENCE_MS = 2_000;
const HALT_TEXT = {
  order: "stopped",
  restart: "stopped for a restart",
  lease: "lease expired",
} as const satisfies Record<StopReason, string>;

type Job = {
  /** The order that a creation works for; other jobs are too short to be called off. */
  readonly order: DesiredInstance | undefined;
  readonly abort: AbortController;
  /** Containers about which the engine sent events meanwhile. */
  readonly missed: Set<string>;
};
/**
 * One host: brings the containers of one engine to what is desired and says what it sees. It decides nothing itself
 * (`plan`, `observe` and the meters are pure); it keeps the present facts and runs one job per instance at a time.
 */
export class Host {
  readonly #deps: HostDependencies;
  readonly #jobContext: JobContext;
  readonly #containers = new Map<string, OwnContainer>();
  readonly #activities = new Map<number, Activity>();
  readonly #jobs = new Map<number, Job>();
  readonly #setbacks: Setbacks;
  readonly #floors = new Map<number, number>();
  readonly #halted: Map<string, string>;
  readonly #meters: Meters;
  #orders: ReadonlyMap<number, DesiredInstance> | undefined;
  #appliedVersion = 0;
  #isLeaseLive = true;
  #isListed = false;
  #engineProblem: string | null = null;
  /** Counts what became known by other ways than a full list, so that an older list does not overwrite it. */
  #epoch = 0;
  #nextResyncMs = 0;
  #isResyncing = false;
  #isSampling = false;
  #isClosed = false;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: HostDependencies) {
    this.#deps = deps;
    this.#halted = new Map(Object.entries(deps.notes?.halted ?? {}));
    this.#meters = new Meters(deps.clock, deps.notes?.meters);
    this.#setbacks = new Setbacks(deps.clock, deps.random);
    this.#jobContext = {
      clock: deps.clock,
      engine: deps.engine,
      spec: deps.settings.spec,
      port_range: deps.settings.port_range,
      isPortFree: deps.isPortFree,
      random: deps.random,
      isPortTaken: (key) => this.#isPortTaken(key),
      reservedPorts: new Set(),
      adopt: (container) => this.#adopt(container),
    };
  }

  /** Looks at the engine for the first time. It returns also when the engine is silent; `tick` then asks again. */
  async begin(): Promise<void> {
    const { engine, settings } = this.#deps;
    this.#unsubscribe = engine.subscribe(LABEL_HOST, settings.spec.host_key, (event) => this.#onEvent(event));
    await this.#resync();
  }

  /** Replaces the whole desired set. Jobs that nobody wants any more are cancelled. */
  setDesired(desired: Desired): void {
    this.#orders = new Map(desired.instances.map((order) => [order.instance_id, order]));
    this.#appliedVersion = desired.version;
    for (const [instance_id, job] of this.#jobs) {
      if (job.order && isAbandoned(job.order, this.#orders.get(instance_id))) job.abort.abort();
    }
    this.#setbacks.keepOnly(this.#orders);
    for (const instance_id of this.#floors.keys()) {
      if (!this.#orders.has(instance_id)) this.#floors.delete(instance_id);
    }
    for (const order of desired.instances) this.#raiseFloor(order.instance_id, order.generation);
    this.#pruneMeters();
    this.#reconcile();
    this.#deps.onChange("state");
  }

  /** While the lease is dead nothing runs and nothing starts. */
  setLease(isLive: boolean): void {
    if (this.#isLeaseLive === isLive) return;
    this.#isLeaseLive = isLive;
    if (!isLive) for (const job of this.#jobs.values()) job.abort.abort();
    this.#deps.log.warn({ is_live: isLive }, isLive ? "lease renewed" : "lease expired, stopping every container");
    this.#reconcile();
  }

  /** Called often: retries what is due, asks the engine again from time to time. */
  tick(): void {
    if (this.#isClosed) return;
    if (this.#deps.clock.monotonicMs() >= this.#nextResyncMs) void this.#resync();
    if (this.#setbacks.all.size > 0) this.#reconcile();
  }

  /** Reads the traffic of all running containers, for the next report. */
  async sampleTraffic(): Promise<void> {
    if (this.#isSampling || this.#containers.size === 0) return;
    this.#isSampling = true;
    await Promise.all([...this.#containers.values()].map((own) => this.#sampleTrafficOf(own)));
    this.#isSampling = false;
  }

  /** The observed set, with last counters of finished runs first. `finals` names those for `acknowledge`. */
  report(): { desired_version: number; instances: ObservedInstance[]; finals: string[] } {
    if (this.#engineProblem === null) for (const own of this.#containers.values()) this.#meters.count(own);
    const observed = observe({
      orders: [...(this.#orders?.values() ?? [])],
      containers: this.#isListed ? [...this.#containers.values()] : undefined,
      floors: this.#floors,
      activities: this.#activities,
      setbacks: this.#setbacks.all,
      halted: this.#halted,
      counters: (instance_id, generation) => this.#meters.counters(instance_id, generation),
      engine_problem: this.#isListed ? this.#engineProblem : null,
    });
    const finals = this.#meters.finals();
    const said = new Set(observed.map((entry) => meterKey(entry.instance_id, entry.generation)));
    const beside = [...finals].filter(([key]) => !said.has(key)).map(([, instance]) => instance);
    return {
      desired_version: this.#isListed ? this.#appliedVersion : 0,
      instances: [...beside, ...observed],
      finals: [...finals.keys()],
    };
  }

  /** The server has stored these final counters: they need not be said again. */
  acknowledge(finals: readonly string[]): void {
    this.#meters.forget(finals);
    this.#pruneMeters();
  }

  notes(): Pick<Notes, "halted" | "meters"> {
    return { halted: Object.fromEntries(this.#halted), meters: this.#meters.notes() };
  }

  /** Stops acting; containers keep running. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    for (const job of this.#jobs.values()) job.abort.abort();
    this.#deps.engine.close();
  }

  #reconcile(): void {
    if (this.#isClosed || !this.#isListed) return;
    const actions = plan({
      orders: this.#orders && [...this.#orders.values()],
      containers: [...this.#containers.values()],
      floors: this.#floors,
      halted: new Set(this.#halted.keys()),
      is_lease_live: this.#isLeaseLive,
    });
    for (const action of actions) {
      const instance_id = instanceOf(action);
      if (this.#jobs.has(instance_id) || this.#isWaiting(instance_id, action)) continue;
      void this.#run(instance_id, action);
    }
  }

  #isWaiting(instance_id: number, action: Action): boolean {
    // What a lost lease demands does not wait for the end of a back-off.
    if (action.kind === "stop" && action.reason === "lease") return false;
    return this.#setbacks.isWaiting(instance_id);
  }

  async #run(instance_id: number, action: Action): Promise<void> {
    const abort = new AbortController();
    const order = action.kind === "create" || action.kind === "start" ? action.order : undefined;
    const generation = order?.generation ?? ("own" in action ? action.own.generation : 0);
    const job: Job = { order: action.kind === "create" ? order : undefined, abort, missed: new Set() };
    this.#jobs.set(instance_id, job);
    const show: Show = (state, text) => {
      const before = this.#activities.get(instance_id);
      this.#activities.set(instance_id, { generation, state, text });
      this.#deps.onChange(before?.state === state ? "progress" : "state");
    };
    this.#deps.log.info({ instance_id, generation, action: action.kind }, "begins");
    const result = await this.#perform(action, show, abort.signal);
    this.#jobs.delete(instance_id);
    this.#activities.delete(instance_id);
    this.#conclude(instance_id, generation, action, result);
    for (const id of job.missed) void this.#lookAgain(id);
    this.#reconcile();
    this.#deps.onChange("state");
  }

  async #perform(action: Action, show: Show, signal: AbortSignal): Promise<Result<void>> {
    const { engine, settings } = this.#deps;
    switch (action.kind) {
      case "create":
        return createContainer(this.#jobContext, action.order, show, signal);
      case "start": {
        const { id } = action.own.container;
        show("starting", `starting ${action.order.image}`);
        const started = await startContainer(this.#jobContext, action.order, action.own);
        if (started.ok) this.#halted.delete(id);
        return this.#look(id, started);
      }
      case "stop": {
        const { id } = action.own.container;
        show("stopping", HALT_TEXT[action.reason]);
        await this.#sampleTrafficOf(action.own);
        // Noted before the process ends, so that its end is never mistaken for its own doing.
        this.#halted.set(id, HALT_TEXT[action.reason]);
        const grace_ms = action.reason === "lease" ? settings.lease_grace_ms : settings.stop_grace_ms;
        return this.#look(id, await engine.stop(id, grace_ms));
      }
      case "rename":
        return this.#look(
          action.own.container.id,
          await renameContainer(this.#jobContext, action.own.container, action.name),
        );
      case "remove":
        return this.#remove(action.own, show);
    }
  }

  async #remove(own: OwnContainer, show: Show): Promise<Result<void>> {
    show("stopping", "removing");
    await this.#sampleTrafficOf(own);
    const removed = await this.#deps.engine.remove(own.container.id);
    if (removed.ok) this.#drop(own.container.id);
    return removed;
  }

  #conclude(instance_id: number, generation: number, action: Action, result: Result<void>): void {
    if (result.ok) {
      // Making the container again is half a success: only its start ends a row of setbacks.
      const isHalf = action.kind === "create" && action.order.run === "running";
      if (!isHalf) this.#setbacks.forget(instance_id);
      return;
    }
    const { failure } = result;
    if (failure.kind === "cancelled") return;
    const { message } = failure;
    this.#setbacks.note(instance_id, { generation, message }, this.#orders?.get(instance_id)?.run);
    this.#deps.log.warn({ instance_id, generation, action: action.kind, failure: failure.kind }, "did not succeed");
    this.#noteReachability(failure);
  }

  /** Brings one container up to date after a step, whatever came of the step, and passes the step's result on. */
  async #look(id: string, result: Result<void>): Promise<Result<void>> {
    const inspected = await this.#deps.engine.inspect(id);
    if (inspected.ok) this.#adopt(inspected.value);
    else if (inspected.failure.kind === "not_found") this.#drop(id);
    else this.#noteReachability(inspected.failure);
    return result;
  }

  #adopt(container: Container): void {
    this.#epoch += 1;
    const own = readIdentity(container);
    if (!own) return;
    const before = this.#containers.get(container.id);
    if (before && before.generation !== own.generation) this.#meters.finish(before, "stopped");
    this.#containers.set(container.id, own);
    this.#raiseFloor(own.instance_id, own.generation);
    this.#meters.count(own);
  }

  #drop(id: string): void {
    this.#epoch += 1;
    const own = this.#containers.get(id);
    if (!own) return;
    this.#meters.finish(own, "absent");
    this.#containers.delete(id);
    this.#halted.delete(id);
  }

  async #sampleTrafficOf(own: OwnContainer): Promise<void> {
    if (own.container.phase !== "running") return;
    const traffic = await this.#deps.engine.traffic(own.container.id);
    if (traffic.ok) this.#meters.count(own, traffic.value);
    else this.#noteReachability(traffic.failure);
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === "resync") {
      void this.#resync();
      return;
    }
    const own = this.#containers.get(event.id);
    const job = own && this.#jobs.get(own.instance_id);
    // A job looks at its container itself, but perhaps a moment too early: it looks again when it is done.
    if (job) job.missed.add(event.id);
    else void this.#lookAgain(event.id);
  }

  async #lookAgain(id: string): Promise<void> {
    await this.#look(id, { ok: true, value: undefined });
    this.#reconcile();
    this.#deps.onChange("state");
  }

  async #resync(): Promise<void> {
    if (this.#isResyncing || this.#isClosed) return;
    this.#isResyncing = true;
    const { clock, engine, settings } = this.#deps;
    const epoch = this.#epoch;
    const listed = await engine.list(LABEL_HOST, settings.spec.host_key);
    this.#isResyncing = false;
    if (this.#isClosed) return;
    this.#nextResyncMs = clock.monotonicMs() + (listed.ok ? RESYNC_EVERY_MS : RESYNC_AFTER_SILENCE_MS);
    if (!listed.ok) {
      this.#noteReachability(listed.failure);
      return;
    }
    this.#noteReachability(null);
    if (epoch === this.#epoch) this.#adoptAll(listed.value);
    else this.#nextResyncMs = clock.monotonicMs();
    this.#reconcile();
  }

  #adoptAll(containers: readonly Container[]): void {
    const listed = new Set(containers.map((container) => container.id));
    for (const container of containers) this.#adopt(container);
    for (const id of [...this.#containers.keys()]) if (!listed.has(id)) this.#drop(id);
    for (const id of [...this.#halted.keys()]) if (!listed.has(id)) this.#halted.delete(id);
    this.#isListed = true;
    this.#deps.onChange("state");
  }

  #noteReachability(failure: EngineFailure | null): void {
    const problem = failure === null ? null : failure.kind === "unreachable" ? failure.message : this.#engineProblem;
    if (problem === this.#engineProblem) return;
    const isBack = problem === null;
    this.#engineProblem = problem;
    this.#deps.log.warn({ problem }, isBack ? "the container engine answers" : "the container engine is silent");
    if (isBack) this.#setbacks.forgetAll();
    this.#nextResyncMs = this.#deps.clock.monotonicMs() + (isBack ? RESYNC_EVERY_MS : RESYNC_AFTER_SILENCE_MS);
    this.#deps.onChange("state");
  }

  #raiseFloor(instance_id: number, generation: number): void {
    this.#floors.set(instance_id, Math.max(generation, this.#floors.get(instance_id) ?? 0));
  }

  /** Keeps the meters of runs that a report can still name. */
  #pruneMeters(): void {
    const kept = new Set<string>();
    for (const own of this.#containers.values()) kept.add(meterKey(own.instance_id, own.generation));
    for (const order of this.#orders?.values() ?? []) {
      kept.add(meterKey(order.instance_id, Math.max(order.generation, this.#floors.get(order.instance_id) ?? 0)));
    }
    this.#meters.prune(kept);
  }

  #isPortTaken(key: string): boolean {
    for (const { container } of this.#containers.values()) {
      if (container.ports.some((port) => portKey(port.host_port, port.protocol) === key)) return true;
    }
    return false;
  }
}

/** A job in progress for one order is pointless when the present order differs in what the job makes. */
function isAbandoned(job: DesiredInstance, order: DesiredInstance | undefined): boolean {
  return !order || order.run === "absent" || order.generation !== job.generation || order.image !== job.image;
}
