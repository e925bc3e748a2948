import type { Desired, DesiredInstance } from "../wire/messages.ts";
import { ContainerBook } from "./book.ts";
import { DoorKeeper } from "./doors.ts";
import type { Container, EngineEvent, EngineFailure, Result } from "../engine/engine.ts";
import type { HostDependencies, HostReport } from "./host-parts.ts";
import { ImageCache } from "../images/image-cache.ts";
import { LABEL_HOST, type OwnContainer } from "./identity.ts";
import { attachDisk, type JobContext, type Show } from "./jobs.ts";
import { meterKey } from "../meters/meters.ts";
import type { Notes } from "./notes.ts";
import { NoticeKeeper } from "../eviction-notice/keeper.ts";
import { recallNotices } from "../eviction-notice/standing.ts";
import { observe, type Activity } from "./observe.ts";
import { graceOf, perform, type PerformContext } from "./perform.ts";
import { instanceOf, newestFirst, plan, type Action } from "./plan.ts";
import { recipeOf } from "./recipe.ts";
import { Setbacks } from "./setbacks.ts";
import type { FoundInstance } from "../tasks/files.ts";
import { VolumeKeeper } from "./volume-keeper.ts";

const RESYNC_EVERY_MS = 30_000;
const RESYNC_AFTER_SILENCE_MS = 2_000;
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
  readonly #book: ContainerBook;
  readonly #volumes: VolumeKeeper;
  readonly #notices: NoticeKeeper;
  readonly #activities = new Map<number, Activity>();
  readonly #jobs = new Map<number, Job>();
  readonly #setbacks: Setbacks;
  readonly #guardedImages: Set<string>;
  readonly #images: ImageCache;
  /** Instances with a disk here; undefined until the host has looked. */
  #disks: Set<number> | undefined;
  readonly #doors: DoorKeeper;
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
    this.#book = new ContainerBook(deps.clock, deps.bootId, deps.notes);
    this.#volumes = new VolumeKeeper(deps.disks, () => deps.onChange("state"));
    this.#guardedImages = new Set(deps.notes?.guardedImages);
    const { clock, engine, log, isDiskLow } = deps;
    this.#images = new ImageCache({ clock, engine, log, isDiskLow, noted: deps.notes?.pulledImages });
    const noted = recallNotices(deps.notes, deps.bootId);
    this.#notices = new NoticeKeeper({ clock, engine, log, noted, onDue: () => this.#lookAround() });
    this.#doors = new DoorKeeper(deps.ssh, deps.notes?.keys);
    this.#setbacks = new Setbacks(deps.clock, deps.random);
    this.#jobContext = {
      clock: deps.clock,
      engine: deps.engine,
      disks: deps.disks,
      commonMounts: deps.settings.commonMounts,
      provideNetwork: () => deps.network.provide(),
      relayUrl: () => deps.network.relayUrl(),
      volumesSettled: () => this.#volumes.settled(),
      imageBelow: (instanceId) => (this.#disks?.has(instanceId) ? this.#book.imageBelow(instanceId) : undefined),
      guardedImages: this.#guardedImages,
      imageCache: this.#images,
      localImages: deps.settings.localImages,
      refuseRegistry: deps.refuseRegistry,
      isDiskLow,
      certificateFor: deps.certificateFor,
      spec: deps.settings.spec,
      portRange: deps.settings.portRange,
      isPortFree: deps.isPortFree,
      random: deps.random,
      isPortTaken: (key) => this.#book.isPortTaken(key),
      reservedPorts: new Set(),
      adopt: (container) => this.#adopt(container),
      onChange: deps.onChange,
    };
  }

  /** Looks at the engine for the first time. It returns also when the engine is silent; `tick` then asks again. */
  async begin(): Promise<void> {
    const { engine, settings } = this.#deps;
    this.#unsubscribe = engine.subscribe(LABEL_HOST, settings.spec.hostKey, (event) => this.#onEvent(event));
    this.#disks = new Set(await this.#deps.disks.list());
    await this.#resync();
  }

  /** Replaces the whole desired set. Jobs that nobody wants any more are cancelled. */
  setDesired(desired: Desired): void {
    this.#orders = new Map(desired.instances.map((order) => [order.instanceId, order]));
    this.#appliedVersion = desired.version;
    for (const [instanceId, job] of this.#jobs) {
      if (job.order && isAbandoned(job.order, this.#orders.get(instanceId))) job.abort.abort();
    }
    this.#setbacks.keepOnly(this.#orders);
    this.#book.keepFloors(this.#orders);
    for (const order of desired.instances) this.#book.raiseFloor(order.instanceId, order.generation);
    this.#pruneMeters();
    this.#doors.setOrders(desired.instances);
    this.#notices.setOrders(this.#orders);
    this.#volumes.set(desired.volumes);
    this.#lookAround();
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
    if (this.#isSampling || this.#book.all.length === 0) return;
    this.#isSampling = true;
    await Promise.all(this.#book.all.map((own) => this.#sample(own)));
    this.#isSampling = false;
  }

  /** The observed set, with last counters of finished runs first. `finals` names those for `acknowledge`. */
  report(): HostReport {
    if (this.#engineProblem === null) this.#book.countAll();
    const observed = observe({
      orders: this.#notices.heed([...(this.#orders?.values() ?? [])]),
      containers: this.#isListed ? this.#book.all : undefined,
      disks: this.#disks,
      floors: this.#book.floors,
      activities: this.#activities,
      setbacks: this.#setbacks.all,
      halted: this.#book.halted,
      counters: (instanceId, generation) => this.#book.counters(instanceId, generation),
      usage: (own) => this.#book.usageOf(own),
      sshHostKey: (instanceId) => this.#doors.hostKey(instanceId),
      engineProblem: this.#isListed ? this.#engineProblem : null,
    });
    const finals = this.#book.meters.finals();
    const said = new Set(observed.map((entry) => meterKey(entry.instanceId, entry.generation)));
    const beside = [...finals].filter(([key]) => !said.has(key)).map(([, instance]) => instance);
    return {
      desiredVersion: this.#isListed ? this.#appliedVersion : 0,
      instances: [...beside, ...observed],
      volumes: this.#volumes.observed,
      finals: [...finals.keys()],
    };
  }

  /** The server has stored these final counters: they need not be said again. */
  acknowledge(finals: readonly string[]): void {
    this.#book.meters.forget(finals);
    this.#pruneMeters();
  }

  /** Undefined until the host has looked: what was noted before is not replaced by less. */
  notes(): Omit<Notes, "bootId" | "lease"> | undefined {
    if (!this.#isListed) return undefined;
    const [keys, pulledImages] = [this.#doors.notes(), this.#images.notes()];
    const notices = Object.fromEntries(this.#notices.standings);
    return { ...this.#book.notes(), keys, pulledImages, guardedImages: [...this.#guardedImages], notices };
  }

  /** The instance's container, for those who connect to it. */
  containerOf(instanceId: number): Container | undefined {
    return newestFirst(this.#book.all.filter((own) => own.instanceId === instanceId))[0]?.container;
  }

  /** The same for those who look at its files; one that does not run gets its disk mounted. */
  async find(instanceId: number): Promise<FoundInstance> {
    if (this.#jobs.has(instanceId)) return { kind: "busy" };
    const container = this.containerOf(instanceId);
    if (!container) return { kind: "absent" };
    const order = this.#orders?.get(instanceId);
    if (container.phase !== "running" && order) await attachDisk(this.#deps, order, container);
    const mounts = (order?.mounts ?? []).flatMap(({ volumeId, mountPath }) => {
      const source = this.#deps.disks.volumeDirectory(volumeId);
      return source === undefined ? [] : [{ source, target: mountPath }];
    });
    return { kind: "present", container, mounts };
  }

  /** From now on nobody else's instance is made of this image just because it is on this host. */
  guardImage(imageId: string): void {
    this.#guardedImages.add(imageId);
  }

  /** Whether nothing of any renter is on this host. */
  get isEmpty(): boolean {
    return this.#isListed && this.#book.all.length === 0 && this.#disks?.size === 0;
  }

  /** Stops acting; containers keep running. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#notices.close();
    for (const job of this.#jobs.values()) job.abort.abort();
    this.#deps.engine.close();
  }

  #reconcile(): void {
    if (this.#isClosed || !this.#isListed || !this.#disks) return;
    this.#doors.open(this.#book.all);
    this.#notices.look(this.#book.all, (instanceId) => this.#jobs.has(instanceId));
    const { realGpuUuids } = this.#deps.settings.spec;
    const actions = plan({
      orders: this.#orders && this.#notices.heed([...this.#orders.values()]),
      containers: this.#book.all,
      disks: this.#disks,
      recipeOf: (order) => recipeOf(order, realGpuUuids),
      floors: this.#book.floors,
      halted: new Set(this.#book.halted.keys()),
      isLeaseLive: this.#isLeaseLive,
    });
    for (const action of actions) {
      const instanceId = instanceOf(action);
      if (this.#jobs.has(instanceId) || this.#isWaiting(instanceId, action)) continue;
      void this.#run(instanceId, action);
    }
  }

  #isWaiting(instanceId: number, action: Action): boolean {
    // What a lost lease demands does not wait for the end of a back-off.
    if (action.kind === "stop" && action.reason === "lease") return false;
    return this.#setbacks.isWaiting(instanceId);
  }

  async #run(instanceId: number, action: Action): Promise<void> {
    const abort = new AbortController();
    const order = action.kind === "create" || action.kind === "start" ? action.order : undefined;
    const generation = order?.generation ?? ("own" in action ? action.own.generation : 0);
    const job: Job = { order: action.kind === "create" ? order : undefined, abort, missed: new Set() };
    this.#jobs.set(instanceId, job);
    const show: Show = (state, text) => {
      const before = this.#activities.get(instanceId);
      this.#activities.set(instanceId, { generation, state, text });
      this.#deps.onChange(before?.state === state ? "progress" : "state");
    };
    this.#deps.log.info({ instance_id: instanceId, generation, action: action.kind }, "begins");
    if (action.kind !== "stop" && action.kind !== "rename") await this.#deps.vacate?.(instanceId);
    const result = await perform(this.#performContext(), action, show, abort.signal);
    this.#jobs.delete(instanceId);
    this.#activities.delete(instanceId);
    this.#conclude(instanceId, generation, action, result);
    for (const id of job.missed) void this.#lookAgain(id);
    this.#lookAround();
  }

  #performContext(): PerformContext {
    const { settings } = this.#deps;
    return {
      jobs: this.#jobContext,
      book: this.#book,
      disks: (this.#disks ??= new Set()),
      graceFor: (reason, own) => graceOf(settings, reason, this.#notices.remainingMs(own.instanceId)),
      sample: (own) => this.#sample(own),
      look: (id, result) => this.#look(id, result),
      drop: (id) => this.#drop(id),
      forgetNotice: (id) => this.#notices.forget(id),
    };
  }

  #conclude(instanceId: number, generation: number, action: Action, result: Result<void>): void {
    if (result.ok) {
      // Making the container again is half a success: only its start ends a row of setbacks.
      const isHalf = action.kind === "create" && action.order.run === "running";
      if (!isHalf) this.#setbacks.forget(instanceId);
      return;
    }
    const { failure } = result;
    if (failure.kind === "cancelled") return;
    this.#setbacks.note(instanceId, { generation, failure }, this.#orders?.get(instanceId)?.run);
    this.#deps.log.warn(
      { instance_id: instanceId, generation, action: action.kind, failure: failure.kind },
      "did not succeed",
    );
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
    this.#book.adopt(container);
  }

  #drop(id: string): void {
    this.#epoch += 1;
    this.#book.drop(id);
  }

  async #sample(own: OwnContainer): Promise<void> {
    const { engine, disks } = this.#deps;
    if (own.container.phase !== "running") return;
    const usage = await engine.usage(own.container.id);
    if (!usage.ok) return this.#noteReachability(usage.failure);
    this.#book.use(own, usage.value, (await disks.usedBytes(own.instanceId)) ?? 0);
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind !== "container") {
      if (event.kind === "lost") this.#book.engineLost();
      void this.#resync();
      return;
    }
    const own = this.#book.get(event.id);
    const job = own && this.#jobs.get(own.instanceId);
    // A job looks at its container itself, but perhaps a moment too early: it looks again when it is done.
    if (job) job.missed.add(event.id);
    else void this.#lookAgain(event.id);
  }

  #lookAround(): void {
    this.#reconcile();
    this.#deps.onChange("state");
  }

  async #lookAgain(id: string): Promise<void> {
    await this.#look(id, { ok: true, value: undefined });
    this.#lookAround();
  }

  async #resync(): Promise<void> {
    if (this.#isResyncing || this.#isClosed) return;
    this.#isResyncing = true;
    const { clock, engine, settings } = this.#deps;
    const epoch = this.#epoch;
    const listed = await engine.list(LABEL_HOST, settings.spec.hostKey);
    this.#isResyncing = false;
    if (this.#isClosed) return;
    this.#nextResyncMs = clock.monotonicMs() + (listed.ok ? RESYNC_EVERY_MS : RESYNC_AFTER_SILENCE_MS);
    // Somebody may have changed the firewall meanwhile, and a volume that was not ready may be by now.
    void this.#deps.network.refresh();
    this.#volumes.look();
    void this.#images.sweep(new Set([...(this.#orders?.values() ?? [])].map((order) => order.image)));
    if (!listed.ok) return this.#noteReachability(listed.failure);
    this.#noteReachability(null);
    if (epoch === this.#epoch) {
      this.#book.adoptAll(listed.value);
      this.#isListed = true;
      this.#deps.onChange("state");
    } else this.#nextResyncMs = clock.monotonicMs();
    this.#reconcile();
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

  #pruneMeters(): void {
    const orders = [...(this.#orders?.values() ?? [])];
    this.#book.pruneMeters(new Map(orders.map((order) => [order.instanceId, order.generation])));
  }
}

/** A job in progress for one order is pointless when the present order differs in what the job makes. */
function isAbandoned(job: DesiredInstance, order: DesiredInstance | undefined): boolean {
  return !order || order.run === "absent" || order.generation !== job.generation || order.revision !== job.revision;
}
