import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Disks } from "../disks/index.ts";
import type { Container, Engine, EngineEvent, EngineFailure, Result } from "../engine/engine.ts";
import type { ContainerBook } from "./book.ts";
import { LABEL_HOST, type OwnContainer } from "./identity.ts";

const LIST_EVERY_MS = 30_000;
const LIST_AFTER_SILENCE_MS = 2_000;

export type ContainerWatchDependencies = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly log: Log;
  readonly disks: Disks;
  readonly book: ContainerBook;
  readonly hostKey: string;
  /** True when a job at the container's instance takes the event: it looks at the container when it is done. */
  readonly isTakenByJob: (own: OwnContainer) => boolean;
  /** Called after each question for all containers, answered or not. */
  readonly onAsked: () => void;
  /** The engine answers again. */
  readonly onBack: () => void;
  /** The book or the engine's reachability has changed, and is worth a report. */
  readonly onNews: () => void;
  /** The book may have changed: the plan is to be made again. */
  readonly onLooked: () => void;
};

/** Keeps the book of containers in step with the engine: by events, by a full list from time to time, and after jobs. */
export class ContainerWatch {
  readonly #deps: ContainerWatchDependencies;
  #isListed = false;
  #problem: string | null = null;
  /** Counts changes of the book by other ways than a full list, so that an older list does not overwrite them. */
  #epoch = 0;
  #nextListMs = 0;
  #isListing = false;
  #sampling: Promise<unknown> | undefined;
  #isClosed = false;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: ContainerWatchDependencies) {
    this.#deps = deps;
  }

  /** True once the engine has given a full list. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** The reason why the engine gives no answer now; null while it answers. */
  get problem(): string | null {
    return this.#problem;
  }

  begin(): void {
    const { engine, hostKey } = this.#deps;
    this.#unsubscribe = engine.subscribe(LABEL_HOST, hostKey, (event) => this.#onEvent(event));
  }

  /** Ends events and lists; what is under way changes nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
  }

  /** Asks for a full list when it is time for the next one. */
  tick(): void {
    if (!this.#isClosed && this.#deps.clock.monotonicMs() >= this.#nextListMs) void this.list();
  }

  async list(): Promise<void> {
    if (this.#isListing || this.#isClosed) return;
    this.#isListing = true;
    const { clock, engine, hostKey, book } = this.#deps;
    const epoch = this.#epoch;
    const listed = await engine.list(LABEL_HOST, hostKey);
    this.#isListing = false;
    if (this.#isClosed) return;
    this.#nextListMs = clock.monotonicMs() + (listed.ok ? LIST_EVERY_MS : LIST_AFTER_SILENCE_MS);
    this.#deps.onAsked();
    if (!listed.ok) return this.noteReachability(listed.failure);
    this.noteReachability(null);
    if (epoch === this.#epoch) {
      book.adoptAll(listed.value);
      this.#isListed = true;
      this.#deps.onNews();
    } else this.#nextListMs = clock.monotonicMs();
    this.#deps.onLooked();
  }

  /** Brings one container of the book up to date after a step, whether it succeeded or not, and returns its result. */
  async look(id: string, result: Result<void>): Promise<Result<void>> {
    const inspected = await this.#deps.engine.inspect(id);
    if (inspected.ok) this.adopt(inspected.value);
    else if (inspected.failure.kind === "not_found") this.drop(id);
    else this.noteReachability(inspected.failure);
    return result;
  }

  async lookAgain(id: string): Promise<void> {
    await this.look(id, { ok: true, value: undefined });
    this.#deps.onLooked();
    this.#deps.onNews();
  }

  adopt(container: Container): void {
    this.#epoch += 1;
    this.#deps.book.adopt(container);
  }

  drop(id: string): void {
    this.#epoch += 1;
    this.#deps.book.drop(id);
  }

  /** Reads the traffic of all running containers; a call during a reading waits for that one. */
  async sampleAll(): Promise<void> {
    const { book } = this.#deps;
    this.#sampling ??= Promise.all(book.all.map((own) => this.sample(own))).finally(() => {
      this.#sampling = undefined;
    });
    await this.#sampling;
  }

  async sample(own: OwnContainer): Promise<void> {
    const { engine, disks, book } = this.#deps;
    if (own.container.phase !== "running") return;
    const usage = await engine.usage(own.container.id);
    if (!usage.ok) return this.noteReachability(usage.failure);
    book.use(own, usage.value, (await disks.usedBytes(own.instanceId)) ?? 0);
  }

  /** Null when the engine has answered. A failure of another kind says nothing about reachability. */
  noteReachability(failure: EngineFailure | null): void {
    const problem = failure === null ? null : failure.kind === "unreachable" ? failure.message : this.#problem;
    if (problem === this.#problem) return;
    const isBack = problem === null;
    this.#problem = problem;
    const { log, clock } = this.#deps;
    log.warn({ problem }, isBack ? "the container engine answers" : "the container engine is silent");
    if (isBack) this.#deps.onBack();
    this.#nextListMs = clock.monotonicMs() + (isBack ? LIST_EVERY_MS : LIST_AFTER_SILENCE_MS);
    this.#deps.onNews();
  }

  #onEvent(event: EngineEvent): void {
    const { book } = this.#deps;
    if (event.kind !== "container") {
      if (event.kind === "lost") book.engineLost();
      void this.list();
      return;
    }
    const own = book.get(event.id);
    if (!own || !this.#deps.isTakenByJob(own)) void this.lookAgain(event.id);
  }
}
