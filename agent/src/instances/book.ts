import type { ObservedInstance } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import type { Container, Usage } from "../engine/engine.ts";
import type { MeasuredInstance } from "../measurements/measurer.ts";
import { LABEL_GPUS, readIdentity, type OwnContainer } from "./identity.ts";
import { meterKey, Meters, runKey } from "../meters/meters.ts";
import type { Notes } from "./notes.ts";
import { portKey } from "./ports.ts";

const REBOOTED = "the host was rebooted";
/** Time in which an engine that stops ends its containers first. */
const ENGINE_SHUTDOWN_MS = 20_000;

/**
 * The known facts of this host's containers: their list, the reasons of ends, the use of resources. It is rebuilt from
 * labels and names; only facts that nobody else remembers come from the notes of an earlier process.
 */
export class ContainerBook {
  readonly meters: Meters;
  readonly #clock: Clock;
  readonly #containers = new Map<string, OwnContainer>();
  /** Highest generation applied to an instance. */
  readonly #appliedGenerations = new Map<number, number>();
  /** Container id → why it was stopped although its run is not over. */
  readonly #halted: Map<string, string>;
  readonly #usage = new Map<string, NonNullable<ObservedInstance["usage"]>>();
  /** The image below the disk of each instance. */
  readonly #images: Map<number, string>;
  /** Containers that ran before this boot, by the notes or by all that is known, and have not run since. */
  readonly #runningBeforeBoot: Set<string>;
  /** The runs that agents saw before this boot; undefined when notes are of this boot, or there are none. */
  readonly #seenBeforeBoot: ReadonlySet<string> | undefined;
  #engineLostAtMs: number | undefined;

  constructor(clock: Clock, bootId: string, notes: Notes | undefined) {
    this.#clock = clock;
    this.meters = new Meters(clock, notes);
    this.#halted = new Map(Object.entries(notes?.halted ?? {}));
    this.#images = new Map(Object.entries(notes?.images ?? {}).map(([id, image]) => [Number(id), image]));
    const earlier = notes?.bootId === bootId ? undefined : notes;
    this.#runningBeforeBoot = new Set(earlier?.running);
    this.#seenBeforeBoot = earlier && new Set(Object.values(earlier.meters).map(({ runKey }) => runKey));
  }

  get all(): readonly OwnContainer[] {
    return [...this.#containers.values()];
  }

  get appliedGenerations(): ReadonlyMap<number, number> {
    return this.#appliedGenerations;
  }

  get halted(): ReadonlyMap<string, string> {
    return this.#halted;
  }

  get(id: string): OwnContainer | undefined {
    return this.#containers.get(id);
  }

  imageBelow(instanceId: number): string | undefined {
    return this.#images.get(instanceId);
  }

  /** The disk is gone, so the next one may be on any image. */
  forgetImage(instanceId: number): void {
    this.#images.delete(instanceId);
  }

  usageOf(own: OwnContainer): ObservedInstance["usage"] {
    return this.#usage.get(own.container.id) ?? null;
  }

  /** Running instances with their last readings. */
  measured(): readonly MeasuredInstance[] {
    return this.all.flatMap((own) => {
      const { instanceId, generation, container } = own;
      const usage = this.#usage.get(container.id);
      if (container.phase !== "running" || container.startedAtMs === null || usage === undefined) return [];
      const { cpuPercent, memoryBytes, diskBytes } = usage;
      const { receivedBytes, sentBytes } = this.counters(instanceId, generation);
      const gpuUuids = (container.labels[LABEL_GPUS] ?? "").split(",").filter((uuid) => uuid !== "");
      const readings = { cpuPercent, memoryBytes, diskBytes, receivedBytes, sentBytes };
      return [{ instanceId, generation, gpuUuids, startedAtMs: container.startedAtMs, ...readings }];
    });
  }

  adopt(container: Container): void {
    const own = readIdentity(container);
    if (!own) return;
    const before = this.#containers.get(container.id);
    if (before && before.generation !== own.generation) this.meters.finish(before, "stopped");
    this.#containers.set(container.id, own);
    if (own.imageId !== "") this.#images.set(own.instanceId, own.imageId);
    if (before === undefined) this.meters.finishOlder(own);
    if (before === undefined && this.#isUnseen(own)) this.#runningBeforeBoot.add(container.id);
    if (container.phase === "running") this.#runningBeforeBoot.delete(container.id);
    this.noteApplied(own.instanceId, own.generation);
    this.#count(own);
  }

  /** Takes a full list of the engine's containers of this host. */
  adoptAll(containers: readonly Container[]): void {
    const listed = new Set(containers.map((container) => container.id));
    for (const container of containers) {
      this.adopt(container);
      this.#noteInterruption(container);
    }
    for (const id of this.#containers.keys()) if (!listed.has(id)) this.drop(id);
    for (const id of this.#halted.keys()) if (!listed.has(id)) this.#halted.delete(id);
    this.#engineLostAtMs = undefined;
  }

  drop(id: string): void {
    const own = this.#containers.get(id);
    if (!own) return;
    this.meters.finish(own, "absent");
    this.#containers.delete(id);
    this.#halted.delete(id);
    this.#usage.delete(id);
  }

  /** Notes the reason of a stop before the process ends, so that its end is not taken for its own. */
  halt(id: string, reason: string): void {
    // A run that ended with the power and has not run since stays noted as that, also for the next agent.
    const isLost = this.#halted.get(id) === REBOOTED && this.get(id)?.container.phase !== "running";
    if (!isLost) this.#halted.set(id, reason);
  }

  /** Notes that the agent started the container: its next end is its own. */
  unhalt(id: string): void {
    this.#halted.delete(id);
    this.#runningBeforeBoot.delete(id);
  }

  /** Takes a reading of what a running container uses, and its disk. */
  use(own: OwnContainer, usage: Usage, diskBytes: number): void {
    const { cpuPercent, memoryBytes } = usage;
    const ipAddress = own.container.network?.ipAddress;
    const where = ipAddress === undefined ? {} : { ipAddress };
    this.#usage.set(own.container.id, { cpuPercent, memoryBytes, diskBytes, ...where });
    this.meters.count(own, usage);
  }

  /** The engine's events ended: containers that end from now on, or did just before, may end by its restart. */
  engineLost(): void {
    this.#engineLostAtMs ??= this.#clock.now().getTime();
  }

  noteApplied(instanceId: number, generation: number): void {
    this.#appliedGenerations.set(instanceId, Math.max(generation, this.#appliedGenerations.get(instanceId) ?? 0));
  }

  keepApplied(instanceIds: ReadonlyMap<number, unknown>): void {
    for (const id of this.#appliedGenerations.keys()) if (!instanceIds.has(id)) this.#appliedGenerations.delete(id);
  }

  countAll(): void {
    for (const own of this.#containers.values()) this.#count(own);
  }

  /** Keeps the meters of runs that a report can still name: those of `generations` beside those of containers. */
  pruneMeters(generations: ReadonlyMap<number, number>): void {
    const kept = new Set<string>();
    for (const own of this.#containers.values()) kept.add(meterKey(own.instanceId, own.generation));
    for (const [instanceId, generation] of generations) {
      kept.add(meterKey(instanceId, Math.max(generation, this.#appliedGenerations.get(instanceId) ?? 0)));
    }
    this.meters.prune(kept);
  }

  isPortTaken(key: string): boolean {
    for (const { container, sshPort } of this.#containers.values()) {
      if (sshPort !== null && portKey(sshPort, "tcp") === key) return true;
      if (container.ports.some((port) => portKey(port.hostPort, port.protocol) === key)) return true;
    }
    return false;
  }

  counters(instanceId: number, generation: number): ObservedInstance["counters"] {
    return this.meters.counters(instanceId, generation);
  }

  notes(): Pick<Notes, "halted" | "meters" | "finals" | "running" | "images"> {
    const running = this.all.filter((own) => own.container.phase === "running").map((own) => own.container.id);
    return {
      halted: Object.fromEntries(this.#halted),
      ...this.meters.notes(),
      running,
      images: Object.fromEntries(this.#images),
    };
  }

  /**
   * Counts the time of a run, except of one that ended with the power: its end, by the engine, is the time at which the
   * engine looked again, so that only the time that an agent has seen counts.
   */
  #count(own: OwnContainer): void {
    const { id, phase } = own.container;
    const isUnseen = this.#runningBeforeBoot.has(id) || this.#halted.get(id) === REBOOTED;
    if (phase === "running" || !isUnseen) this.meters.count(own);
  }

  /**
   * True for a run that began after the last note that was written before the boot: it ended with the power, as far as
   * anybody knows.
   */
  #isUnseen({ container, hasBegun }: OwnContainer): boolean {
    if (container.phase !== "exited" || container.startedAtMs === null || !hasBegun) return false;
    const key = runKey(container.id, container.startedAtMs);
    return this.#seenBeforeBoot !== undefined && !this.#seenBeforeBoot.has(key);
  }

  /**
   * A container that a reboot of the host or a restart of the engine ended is not over: it goes on in its generation. It
   * may be one that ended by itself in those very seconds; that one runs once more, which harms nobody.
   */
  #noteInterruption(container: Container): void {
    if (container.phase !== "exited") return;
    // In place of an earlier reason: the next agent has to know, too, that the run was lost.
    if (this.#runningBeforeBoot.has(container.id)) this.#halted.set(container.id, REBOOTED);
    if (this.#halted.has(container.id)) return;
    const lostAtMs = this.#engineLostAtMs;
    const endedAtMs = container.finishedAtMs;
    if (lostAtMs === undefined || endedAtMs === null) return;
    if (endedAtMs >= lostAtMs - ENGINE_SHUTDOWN_MS) {
      this.#halted.set(container.id, "the container engine was restarted");
    }
  }
}
