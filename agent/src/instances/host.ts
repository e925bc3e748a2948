import type { Container, EngineFailure, Traffic } from "../engine/engine.ts";
import { recallNotices } from "../eviction-notice/taken-notices.ts";
import { NoticeKeeper } from "../eviction-notice/keeper.ts";
import { ImageCache } from "../images/image-cache.ts";
import { meterKey } from "../meters/meters.ts";
import type { FoundInstance } from "../tasks/files.ts";
import type { Desired, DesiredInstance } from "../wire/messages.ts";
import type { MeasuredInstance } from "../measurements/measurer.ts";
import { ContainerBook } from "./book.ts";
import { ContainerWatch } from "./container-watch.ts";
import { DoorKeeper } from "./doors.ts";
import type { HostDependencies, HostReport } from "./host-parts.ts";
import { JobRunner } from "./job-runner.ts";
import { attachDisk, type JobContext } from "./jobs.ts";
import type { Notes } from "./notes.ts";
import { observe } from "./observe.ts";
import { graceOf, perform, type PerformContext } from "./perform.ts";
import { newestFirst, plan, type IdRange } from "./plan.ts";
import { recipeOf } from "./recipe.ts";
import { VolumeKeeper } from "./volume-keeper.ts";

/**
 * One host: brings the containers of one engine to what is desired and reports what it sees. It decides nothing itself
 * (`plan`, `observe` and the meters are pure); the watch keeps the present facts, the runner one job for each instance.
 */
export class Host {
  readonly #deps: HostDependencies;
  readonly #book: ContainerBook;
  readonly #watch: ContainerWatch;
  readonly #jobs: JobRunner;
  readonly #volumes: VolumeKeeper;
  readonly #notices: NoticeKeeper;
  readonly #doors: DoorKeeper;
  readonly #images: ImageCache;
  readonly #guardedImages: Set<string>;
  readonly #jobContext: JobContext;
  /** Instances with a disk here; undefined until the host has looked. */
  #disks: Set<number> | undefined;
  #orders: ReadonlyMap<number, DesiredInstance> | undefined;
  #keptIds: readonly IdRange[] = [];
  #appliedVersion = 0;
  #isLeaseLive = true;
  #isClosed = false;

  constructor(deps: HostDependencies) {
    const { clock, engine, log, isDiskLow, notes, bootId } = deps;
    this.#deps = deps;
    this.#book = new ContainerBook(clock, bootId, notes);
    this.#volumes = new VolumeKeeper(deps.disks, () => deps.onChange("state"));
    this.#guardedImages = new Set(notes?.guardedImages);
    this.#images = new ImageCache({ clock, engine, log, isDiskLow, noted: notes?.pulledImages });
    const noted = recallNotices(notes, bootId);
    this.#notices = new NoticeKeeper({ clock, engine, log, noted, onDue: () => this.#lookAround() });
    this.#doors = new DoorKeeper(deps.ssh, notes?.keys);
    this.#watch = this.#makeWatch();
    this.#jobs = this.#makeJobs();
    this.#jobContext = this.#makeJobContext();
  }

  #makeWatch(): ContainerWatch {
    const { clock, engine, log, disks, network, settings, onChange } = this.#deps;
    return new ContainerWatch({
      ...{ clock, engine, log, disks },
      book: this.#book,
      hostKey: settings.spec.hostKey,
      isTakenByJob: (own) => this.#jobs.takeEvent(own),
      onAsked: () => {
        // Somebody may have changed the firewall meanwhile, and a volume that was not ready may be ready by now.
        void network.refresh();
        this.#volumes.look();
        void this.#images.sweep(new Set([...(this.#orders?.values() ?? [])].map((order) => order.image)));
      },
      onBack: () => this.#jobs.forgetSetbacks(),
      onNews: () => onChange("state"),
      onLooked: () => this.#reconcile(),
    });
  }

  #makeJobs(): JobRunner {
    const { clock, random, log, vacate, onChange } = this.#deps;
    return new JobRunner({
      ...{ clock, random, log, vacate, onChange },
      perform: (action, show, signal) => perform(this.#performContext(), action, show, signal),
      orderOf: (instanceId) => this.#orders?.get(instanceId),
      onFailure: (failure: EngineFailure) => this.#watch.noteReachability(failure),
      onOver: (missed) => {
        for (const id of missed) void this.#watch.lookAgain(id);
        this.#lookAround();
      },
    });
  }

  #makeJobContext(): JobContext {
    const { clock, engine, disks, network, settings, refuseRegistry, isDiskLow, isPortFree, random } = this.#deps;
    return {
      ...{ clock, engine, disks, refuseRegistry, isDiskLow, isPortFree, random },
      commonMounts: settings.commonMounts,
      provideNetwork: () => network.provide(),
      relayUrl: () => network.relayUrl(),
      volumesSettled: () => this.#volumes.settled(),
      imageBelow: (instanceId) => (this.#disks?.has(instanceId) ? this.#book.imageBelow(instanceId) : undefined),
      guardedImages: this.#guardedImages,
      imageCache: this.#images,
      localImages: settings.localImages,
      certificateFor: this.#deps.certificateFor,
      spec: settings.spec,
      portRange: settings.portRange,
      isPortTaken: (key) => this.#book.isPortTaken(key),
      reservedPorts: new Set(),
      adopt: (container) => this.#watch.adopt(container),
      onChange: this.#deps.onChange,
    };
  }

  #performContext(): PerformContext {
    const { settings } = this.#deps;
    return {
      jobs: this.#jobContext,
      book: this.#book,
      disks: (this.#disks ??= new Set()),
      graceFor: (reason, own) => graceOf(settings, reason, this.#notices.remainingMs(own.instanceId)),
      sample: (own) => this.#watch.sample(own),
      look: (id, result) => this.#watch.look(id, result),
      drop: (id) => this.#watch.drop(id),
      forgetNotice: (id) => this.#notices.forget(id),
    };
  }

  /** Looks at the engine for the first time. It returns also when the engine is silent; `tick` then asks again. */
  async begin(): Promise<void> {
    this.#watch.begin();
    this.#disks = new Set(await this.#deps.disks.list());
    await this.#watch.list();
  }

  /** Replaces the whole desired set, and calls off jobs for orders that were replaced. */
  setDesired(desired: Desired): void {
    this.#orders = new Map(desired.instances.map((order) => [order.instanceId, order]));
    this.#keptIds = desired.keptInstances ?? [];
    this.#appliedVersion = desired.version;
    this.#jobs.follow(this.#orders);
    this.#book.keepApplied(this.#orders);
    for (const order of desired.instances) this.#book.noteApplied(order.instanceId, order.generation);
    this.#pruneMeters();
    this.#doors.setOrders(desired.instances);
    this.#notices.setOrders(this.#orders);
    this.#volumes.set(desired.volumes);
    this.#lookAround();
  }

  /** While the heartbeat lease is over, no container runs or starts. */
  setLease(isLive: boolean): void {
    if (this.#isLeaseLive === isLive) return;
    this.#isLeaseLive = isLive;
    if (!isLive) this.#jobs.callOffAll();
    this.#deps.log.warn(
      { is_live: isLive },
      isLive ? "the heartbeat lease is renewed" : "the heartbeat lease has expired: every container is stopped",
    );
    this.#reconcile();
  }

  /** Called often: tries again what is due, and asks the engine for all containers from time to time. */
  tick(): void {
    if (this.#isClosed) return;
    this.#watch.tick();
    if (this.#jobs.setbacks.size > 0) this.#reconcile();
  }

  /** Reads the traffic of all running containers, for the next report. */
  async sampleTraffic(): Promise<void> {
    await this.#watch.sampleAll();
  }

  /** Running instances with readings of now; undefined while the engine gives no answer. */
  async measure(): Promise<readonly MeasuredInstance[] | undefined> {
    await this.#watch.sampleAll();
    if (!this.#watch.isListed || this.#watch.problem !== null) return undefined;
    return this.#book.measured();
  }

  /** The observed set, with last counters of finished runs first. `finals` names those for `acknowledge`. */
  report(): HostReport {
    const { isListed, problem } = this.#watch;
    if (problem === null) this.#book.countAll();
    const observed = observe({
      orders: this.#notices.heed([...(this.#orders?.values() ?? [])]),
      containers: isListed ? this.#book.all : undefined,
      disks: this.#disks,
      appliedGenerations: this.#book.appliedGenerations,
      activities: this.#jobs.activities,
      setbacks: this.#jobs.setbacks,
      halted: this.#book.halted,
      counters: (instanceId, generation) => this.#book.counters(instanceId, generation),
      usage: (own) => this.#book.usageOf(own),
      sshHostKey: (instanceId) => this.#doors.hostKey(instanceId),
      engineProblem: isListed ? problem : null,
    });
    const finals = this.#book.meters.finals();
    const said = new Set(observed.map((entry) => meterKey(entry.instanceId, entry.generation)));
    const beside = [...finals].filter(([key]) => !said.has(key)).map(([, instance]) => instance);
    return {
      desiredVersion: isListed ? this.#appliedVersion : 0,
      instances: [...beside, ...observed],
      volumes: this.#volumes.observed,
      finals: [...finals.keys()],
    };
  }

  /** The server has stored these final counters: they need not be reported again. */
  acknowledge(finals: readonly string[]): void {
    this.#book.meters.forget(finals);
    this.#pruneMeters();
  }

  /** Notes for the next process; undefined until the host has looked, so that they do not replace fuller ones. */
  notes(): Omit<Notes, "bootId" | "lease"> | undefined {
    if (!this.#watch.isListed) return undefined;
    const [keys, pulledImages] = [this.#doors.notes(), this.#images.notes()];
    const notices = Object.fromEntries(this.#notices.takenNotices);
    return { ...this.#book.notes(), keys, pulledImages, guardedImages: [...this.#guardedImages], notices };
  }

  /** The instance's container, for connections to it. */
  containerOf(instanceId: number): Container | undefined {
    return newestFirst(this.#book.all.filter((own) => own.instanceId === instanceId))[0]?.container;
  }

  /** Counts traffic of a task that passed beside the instance's container, in the generation that it has now. */
  addTraffic(instanceId: number, traffic: Traffic): void {
    const [own] = newestFirst(this.#book.all.filter((one) => one.instanceId === instanceId));
    if (own !== undefined) this.#book.meters.addTraffic(instanceId, own.generation, traffic);
  }

  /** The instance's container with its mounts, for work on its files. The disk of a stopped one is mounted first. */
  async find(instanceId: number): Promise<FoundInstance> {
    if (this.#jobs.isBusy(instanceId)) return { kind: "busy" };
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

  /** From now on an instance of another renter gets this image only from its registry, although it is on this host. */
  guardImage(imageId: string): void {
    this.#guardedImages.add(imageId);
  }

  /** True when this host holds no container and no disk of a renter. */
  get isEmpty(): boolean {
    return this.#watch.isListed && this.#book.all.length === 0 && this.#disks?.size === 0;
  }

  /** Stops acting; containers keep running. */
  close(): void {
    this.#isClosed = true;
    this.#watch.close();
    this.#notices.close();
    this.#jobs.callOffAll();
    this.#deps.engine.close();
  }

  #lookAround(): void {
    this.#reconcile();
    this.#deps.onChange("state");
  }

  #reconcile(): void {
    if (this.#isClosed || !this.#watch.isListed || !this.#disks) return;
    this.#doors.open(this.#book.all);
    this.#notices.look(this.#book.all, (instanceId) => this.#jobs.isBusy(instanceId));
    const { realGpuUuids } = this.#deps.settings.spec;
    const actions = plan({
      orders: this.#orders && this.#notices.heed([...this.#orders.values()]),
      containers: this.#book.all,
      disks: this.#disks,
      recipeOf: (order) => recipeOf(order, realGpuUuids),
      appliedGenerations: this.#book.appliedGenerations,
      halted: new Set(this.#book.halted.keys()),
      isLeaseLive: this.#isLeaseLive,
      keptIds: this.#keptIds,
    });
    for (const action of actions) this.#jobs.offer(action);
  }

  #pruneMeters(): void {
    const orders = [...(this.#orders?.values() ?? [])];
    this.#book.pruneMeters(new Map(orders.map((order) => [order.instanceId, order.generation])));
  }
}
