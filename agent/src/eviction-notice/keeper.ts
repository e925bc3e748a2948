import type { DesiredInstance, LaunchCommand } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Engine, SignalName } from "../engine/engine.ts";
import { LABEL_NOTICE_SIGNAL, type OwnContainer } from "../instances/identity.ts";
import type { Log } from "../base/log.ts";
import { collectOutput } from "../engine/program.ts";
import { BEGUN, checkpointScript, hushScript, tellScript, waitScript } from "./scripts.ts";
import {
  describeInterruption,
  endNotices,
  heedNotices,
  takeNotices,
  type Moment,
  type Standing,
  type Standings,
} from "./standing.ts";

export type NoticeDependencies = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly log: Log;
  /** Those of an earlier process of this boot. */
  readonly noted: Standings;
  /** The run of an instance is over now: look what is to be done. */
  readonly onDue: () => void;
};

/** What goes on inside one container under its notice. */
type Round = {
  readonly container_id: string;
  readonly generation: number;
  readonly ended: AbortController;
  standing: Standing;
  /** The newest telling: one waits for the other. */
  telling: Promise<boolean>;
};

/** A container that does not let a program run to its end is left alone. */
const EXEC_LIMIT_MS = 5_000;
const TELL_ATTEMPTS = 3;
const TELL_AGAIN_MS = 1_000;
const OUTPUT_LIMIT_BYTES = 4_096;

/**
 * Sees to it that those who have to leave know it and go: it writes the file and starts the address inside the container,
 * sends the signal or runs the renter's checkpoint command, and says when the run is over. Whatever a container does
 * about it takes a bounded time and none of the host's own.
 */
export class NoticeKeeper {
  readonly #deps: NoticeDependencies;
  readonly #rounds = new Map<number, Round>();
  /** By container: what is being taken back there. */
  readonly #forgetting = new Map<string, Promise<void>>();
  #standings: Standings;
  /** Undefined until the server has said. */
  #orders: ReadonlyMap<number, DesiredInstance> | undefined;
  /** Instances that may stay after all. */
  readonly #relieved = new Set<number>();

  constructor(deps: NoticeDependencies) {
    this.#deps = deps;
    this.#standings = deps.noted;
  }

  get standings(): Standings {
    return this.#standings;
  }

  setOrders(orders: ReadonlyMap<number, DesiredInstance>): void {
    this.#orders = orders;
    const before = this.#standings;
    this.#standings = takeNotices(before, orders.values(), this.#moment());
    for (const [instance_id, { generation, is_over }] of before) {
      const order = orders.get(instance_id);
      const isKept = is_over || this.#standings.has(instance_id);
      if (!isKept && order?.run === "running" && order.generation === generation) this.#relieved.add(instance_id);
    }
  }

  /** Looks at what runs, and begins and ends what is due inside. `isBusy` tells where something is being done. */
  look(containers: readonly OwnContainer[], isBusy: (instance_id: number) => boolean): void {
    if (!this.#orders || (this.#standings.size === 0 && this.#rounds.size === 0 && this.#relieved.size === 0)) return;
    const { monotonic_ms } = this.#moment();
    this.#standings = endNotices(this.#standings, { monotonic_ms, containers, isBusy });
    for (const own of containers) {
      if (own.container.phase !== "running") continue;
      const standing = this.#standings.get(own.instance_id);
      if (standing && !standing.is_over && standing.generation === own.generation) this.#keepRound(own, standing);
      else if (!standing && this.#relieved.has(own.instance_id)) {
        this.forget(own.container.id, this.#rounds.get(own.instance_id)?.telling);
      }
    }
    this.#relieved.clear();
    for (const [instance_id, round] of this.#rounds) {
      const standing = this.#standings.get(instance_id);
      if (standing && !standing.is_over && standing.generation === round.generation) continue;
      round.ended.abort();
      this.#rounds.delete(instance_id);
    }
  }

  /** What is really to be done for these orders. */
  heed(orders: readonly DesiredInstance[]): readonly DesiredInstance[] {
    return heedNotices(orders, this.#standings);
  }

  /** What is left of the notice of a run that has to end; undefined where there is none. */
  remainingMs(instance_id: number): number | undefined {
    const standing = this.#standings.get(instance_id);
    return standing && standing.ends_at_ms - this.#deps.clock.monotonicMs();
  }

  /** Takes back inside a container whatever an earlier notice left there. */
  forget(container_id: string, after: Promise<unknown> = Promise.resolve()): void {
    const forgetting = after
      .then(() => this.#exec(container_id, hushScript()))
      .then(() => {
        if (this.#forgetting.get(container_id) === forgetting) this.#forgetting.delete(container_id);
      });
    this.#forgetting.set(container_id, forgetting);
  }

  close(): void {
    for (const round of this.#rounds.values()) round.ended.abort();
    this.#rounds.clear();
  }

  #moment(): Moment {
    const { clock } = this.#deps;
    return { monotonic_ms: clock.monotonicMs(), now_ms: clock.now().getTime() };
  }

  #keepRound(own: OwnContainer, standing: Standing): void {
    const { instance_id, container, generation } = own;
    const before = this.#rounds.get(instance_id);
    if (before && before.container_id === container.id && before.generation === generation) {
      const last = before.standing;
      before.standing = standing;
      if (isSame(last, standing)) return;
      before.telling = before.telling.then(() => this.#tell(instance_id, before));
      if (last.ends_at_ms !== standing.ends_at_ms) void this.#endInTime(before);
      return;
    }
    before?.ended.abort();
    const telling = Promise.resolve(false);
    const ended = new AbortController();
    const round: Round = { container_id: container.id, generation, ended, standing, telling };
    this.#rounds.set(instance_id, round);
    const remaining_ms = Math.round(standing.ends_at_ms - this.#deps.clock.monotonicMs());
    this.#deps.log.info({ instance_id, generation, reason: standing.reason, remaining_ms }, "has to leave");
    void this.#endInTime(round);
    round.telling = this.#tell(instance_id, round);
    void this.#serve(own, round);
  }

  async #endInTime(round: Round): Promise<void> {
    const { clock, onDue } = this.#deps;
    const { ends_at_ms } = round.standing;
    const isCurrent = () => !round.ended.signal.aborted && round.standing.ends_at_ms === ends_at_ms;
    // Timers may be a little early.
    for (let left_ms = 1; left_ms > 0 && isCurrent(); left_ms = ends_at_ms - clock.monotonicMs()) {
      await clock.sleep(Math.max(1, ends_at_ms - clock.monotonicMs()), round.ended.signal);
    }
    if (isCurrent()) onDue();
  }

  async #serve(own: OwnContainer, round: Round): Promise<void> {
    const { instance_id } = own;
    const isFirst = await round.telling;
    if (round.ended.signal.aborted) return;
    const order = this.#orders?.get(instance_id);
    const command = order?.checkpoint_command ?? "";
    const isDone =
      command !== "" && (isFirst ? await this.#checkpoint(own, command) : await this.#awaitCheckpoint(own));
    if (round.ended.signal.aborted) return;
    if (isDone) return this.#handOver(instance_id, round);
    if (!isFirst || !order) return;
    const name = signalOf(order.command, own);
    if (name) await this.#deps.engine.signal(own.container.id, name);
  }

  /** Whether this generation has not been told before. What could not be written is tried again; nobody waits for that. */
  async #tell(instance_id: number, round: Round, attempt = 1): Promise<boolean> {
    const { clock, log } = this.#deps;
    const { signal } = round.ended;
    await this.#forgetting.get(round.container_id);
    if (signal.aborted) return true;
    const text = describeInterruption(round.standing, this.#moment());
    const told = await this.#exec(round.container_id, tellScript(text, round.generation));
    if (told?.exit_code === 0) return told.stdout.trim() !== "again";
    if (attempt === TELL_ATTEMPTS) log.info({ instance_id }, "its notice could not be written inside");
    else void clock.sleep(TELL_AGAIN_MS, signal).then(() => this.#tell(instance_id, round, attempt + 1));
    return true;
  }

  /** Whether the renter's command ran, whatever came of it. */
  async #checkpoint(own: OwnContainer, command: string): Promise<boolean> {
    const { engine, log } = this.#deps;
    const { instance_id, container } = own;
    log.info({ instance_id }, "runs its checkpoint command");
    const program = await engine.open(container.id, checkpointScript(command), "renter");
    if (!program.ok) return false;
    const signal = new AbortController().signal;
    const output = await collectOutput(program.value, { signal, output_limit_bytes: OUTPUT_LIMIT_BYTES });
    if (!output.ok || !output.value.stdout.toString().startsWith(BEGUN)) return false;
    log.info({ instance_id, exit_code: output.value.exit_code }, "its checkpoint command has ended");
    return true;
  }

  /** The same of a command that an earlier agent began. */
  async #awaitCheckpoint(own: OwnContainer): Promise<boolean> {
    const ended = await this.#exec(own.container.id, waitScript(), this.#rounds.get(own.instance_id)?.ended.signal);
    return ended?.exit_code === 0;
  }

  #handOver(instance_id: number, { generation }: Round): void {
    const standing = this.#standings.get(instance_id);
    if (standing?.generation !== generation) return;
    this.#standings = new Map(this.#standings).set(instance_id, { ...standing, is_over: true });
    this.#deps.onDue();
  }

  /** Undefined when it could not be run to its end: within its time, or until the signal. */
  async #exec(
    container_id: string,
    argv: readonly string[],
    until?: AbortSignal,
  ): Promise<{ readonly exit_code: number; readonly stdout: string } | undefined> {
    const over = new AbortController();
    const signal = until ?? over.signal;
    if (!until) void this.#deps.clock.sleep(EXEC_LIMIT_MS, over.signal).then(() => over.abort());
    const request = { argv, signal, output_limit_bytes: OUTPUT_LIMIT_BYTES };
    const output = await this.#deps.engine.exec(container_id, request);
    over.abort();
    return output.ok ? { exit_code: output.value.exit_code, stdout: output.value.stdout.toString() } : undefined;
  }
}

function isSame(a: Standing, b: Standing): boolean {
  return a.reason === b.reason && a.message === b.message && a.ends_at_ms === b.ends_at_ms;
}

/** How the renter's own process is told: the platform script ends with the container, so it only passes the word on. */
function signalOf(command: LaunchCommand, { container }: OwnContainer): SignalName | undefined {
  if (command.mode === "entrypoint") return "SIGTERM";
  return container.labels[LABEL_NOTICE_SIGNAL] === "SIGUSR1" ? "SIGUSR1" : undefined;
}
