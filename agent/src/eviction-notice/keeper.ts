import type { DesiredInstance, LaunchCommand } from "../wire/messages.ts";
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
  type TakenNotice,
  type TakenNotices,
} from "./taken-notices.ts";

export type NoticeDependencies = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly log: Log;
  /** Eviction notices that an earlier process of this boot noted. */
  readonly noted: TakenNotices;
  /** Called when the run of an instance ends under its notice: the plan is to be made again. */
  readonly onDue: () => void;
};

/** The work inside one container under its eviction notice. */
type Round = {
  readonly containerId: string;
  readonly generation: number;
  readonly ended: AbortController;
  taken: TakenNotice;
  /** The newest writing of the notice inside the container; each waits for the one before. */
  telling: Promise<boolean>;
};

/** A container that does not let a program run to its end is left alone. */
const EXEC_LIMIT_MS = 5_000;
const TELL_ATTEMPTS = 3;
const TELL_AGAIN_MS = 1_000;
const OUTPUT_LIMIT_BYTES = 4_096;

/**
 * Tells containers about their eviction notice until their run is over: writes the file and starts the address inside
 * the container, sends the signal or runs the renter's checkpoint command, and reports the end of the run. Work inside
 * a container has a time limit and holds up nothing of the host.
 */
export class NoticeKeeper {
  readonly #deps: NoticeDependencies;
  readonly #rounds = new Map<number, Round>();
  /** Removals of earlier notices under way, by container. */
  readonly #forgetting = new Map<string, Promise<void>>();
  #takenNotices: TakenNotices;
  /** Orders by instance; undefined until the server has sent them. */
  #orders: ReadonlyMap<number, DesiredInstance> | undefined;
  /** Instances whose notice was taken back while they run, so that its files inside have to be removed. */
  readonly #relieved = new Set<number>();

  constructor(deps: NoticeDependencies) {
    this.#deps = deps;
    this.#takenNotices = deps.noted;
  }

  get takenNotices(): TakenNotices {
    return this.#takenNotices;
  }

  setOrders(orders: ReadonlyMap<number, DesiredInstance>): void {
    this.#orders = orders;
    const before = this.#takenNotices;
    this.#takenNotices = takeNotices(before, orders.values(), this.#moment());
    for (const [instanceId, { generation, isOver }] of before) {
      const order = orders.get(instanceId);
      const isKept = isOver || this.#takenNotices.has(instanceId);
      if (!isKept && order?.run === "running" && order.generation === generation) this.#relieved.add(instanceId);
    }
  }

  /** Looks at what runs, and begins and ends what is due inside. `isBusy` tells where something is being done. */
  look(containers: readonly OwnContainer[], isBusy: (instanceId: number) => boolean): void {
    if (!this.#orders || (this.#takenNotices.size === 0 && this.#rounds.size === 0 && this.#relieved.size === 0))
      return;
    const { monotonicMs } = this.#moment();
    this.#takenNotices = endNotices(this.#takenNotices, { monotonicMs, containers, isBusy });
    for (const own of containers) {
      if (own.container.phase !== "running") continue;
      const taken = this.#takenNotices.get(own.instanceId);
      if (taken && !taken.isOver && taken.generation === own.generation) this.#keepRound(own, taken);
      else if (!taken && this.#relieved.has(own.instanceId)) {
        this.forget(own.container.id, this.#rounds.get(own.instanceId)?.telling);
      }
    }
    this.#relieved.clear();
    for (const [instanceId, round] of this.#rounds) {
      const taken = this.#takenNotices.get(instanceId);
      if (taken && !taken.isOver && taken.generation === round.generation) continue;
      round.ended.abort();
      this.#rounds.delete(instanceId);
    }
  }

  /** The orders as the plan takes them: an order whose run is over under its notice asks for a stopped instance. */
  heed(orders: readonly DesiredInstance[]): readonly DesiredInstance[] {
    return heedNotices(orders, this.#takenNotices);
  }

  /** Milliseconds left of a run's eviction notice; undefined without one. */
  remainingMs(instanceId: number): number | undefined {
    const taken = this.#takenNotices.get(instanceId);
    return taken && taken.endsAtMs - this.#deps.clock.monotonicMs();
  }

  /** Removes inside a container the file and the address of an earlier notice. */
  forget(containerId: string, after: Promise<unknown> = Promise.resolve()): void {
    const forgetting = after
      .then(() => this.#exec(containerId, hushScript()))
      .then(() => {
        if (this.#forgetting.get(containerId) === forgetting) this.#forgetting.delete(containerId);
      });
    this.#forgetting.set(containerId, forgetting);
  }

  close(): void {
    for (const round of this.#rounds.values()) round.ended.abort();
    this.#rounds.clear();
  }

  #moment(): Moment {
    const { clock } = this.#deps;
    return { monotonicMs: clock.monotonicMs(), nowMs: clock.now().getTime() };
  }

  #keepRound(own: OwnContainer, taken: TakenNotice): void {
    const { instanceId, container, generation } = own;
    const before = this.#rounds.get(instanceId);
    if (before && before.containerId === container.id && before.generation === generation) {
      const last = before.taken;
      before.taken = taken;
      if (isSame(last, taken)) return;
      before.telling = before.telling.then(() => this.#tell(instanceId, before));
      if (last.endsAtMs !== taken.endsAtMs) void this.#endInTime(before);
      return;
    }
    before?.ended.abort();
    const telling = Promise.resolve(false);
    const ended = new AbortController();
    const round: Round = { containerId: container.id, generation, ended, taken, telling };
    this.#rounds.set(instanceId, round);
    const remainingMs = Math.round(taken.endsAtMs - this.#deps.clock.monotonicMs());
    this.#deps.log.info(
      { instance_id: instanceId, generation, reason: taken.reason, remaining_ms: remainingMs },
      "the instance has an eviction notice",
    );
    void this.#endInTime(round);
    round.telling = this.#tell(instanceId, round);
    void this.#serve(own, round);
  }

  async #endInTime(round: Round): Promise<void> {
    const { clock, onDue } = this.#deps;
    const { endsAtMs } = round.taken;
    const isCurrent = () => !round.ended.signal.aborted && round.taken.endsAtMs === endsAtMs;
    // Timers may be a little early.
    for (let leftMs = 1; leftMs > 0 && isCurrent(); leftMs = endsAtMs - clock.monotonicMs()) {
      await clock.sleep(Math.max(1, endsAtMs - clock.monotonicMs()), round.ended.signal);
    }
    if (isCurrent()) onDue();
  }

  async #serve(own: OwnContainer, round: Round): Promise<void> {
    const { instanceId } = own;
    const isFirst = await round.telling;
    if (round.ended.signal.aborted) return;
    const order = this.#orders?.get(instanceId);
    const command = order?.checkpointCommand ?? "";
    const isDone =
      command !== "" && (isFirst ? await this.#checkpoint(own, command) : await this.#awaitCheckpoint(own));
    if (round.ended.signal.aborted) return;
    if (isDone) return this.#handOver(instanceId, round);
    if (!isFirst || !order) return;
    const name = signalOf(order.command, own);
    if (name) await this.#deps.engine.signal(own.container.id, name);
  }

  /** True when this generation was not told before. A failed write is tried again in the background. */
  async #tell(instanceId: number, round: Round, attempt = 1): Promise<boolean> {
    const { clock, log } = this.#deps;
    const { signal } = round.ended;
    await this.#forgetting.get(round.containerId);
    if (signal.aborted) return true;
    const text = describeInterruption(round.taken, this.#moment());
    const told = await this.#exec(round.containerId, tellScript(text, round.generation));
    if (told?.exitCode === 0) return told.stdout.trim() !== "again";
    if (attempt === TELL_ATTEMPTS)
      log.info({ instance_id: instanceId }, "the eviction notice could not be written inside the container");
    else void clock.sleep(TELL_AGAIN_MS, signal).then(() => this.#tell(instanceId, round, attempt + 1));
    return true;
  }

  /** True when the renter's command ran, with any exit code. */
  async #checkpoint(own: OwnContainer, command: string): Promise<boolean> {
    const { engine, log } = this.#deps;
    const { instanceId, container } = own;
    log.info({ instance_id: instanceId }, "the checkpoint command runs");
    const program = await engine.open(container.id, checkpointScript(command), "renter");
    if (!program.ok) return false;
    const signal = new AbortController().signal;
    const output = await collectOutput(program.value, { signal, outputLimitBytes: OUTPUT_LIMIT_BYTES });
    if (!output.ok || !output.value.stdout.toString().startsWith(BEGUN)) return false;
    log.info({ instance_id: instanceId, exit_code: output.value.exitCode }, "the checkpoint command has ended");
    return true;
  }

  /** Waits for a checkpoint command that an earlier agent began. */
  async #awaitCheckpoint(own: OwnContainer): Promise<boolean> {
    const ended = await this.#exec(own.container.id, waitScript(), this.#rounds.get(own.instanceId)?.ended.signal);
    return ended?.exitCode === 0;
  }

  #handOver(instanceId: number, { generation }: Round): void {
    const taken = this.#takenNotices.get(instanceId);
    if (taken?.generation !== generation) return;
    this.#takenNotices = new Map(this.#takenNotices).set(instanceId, { ...taken, isOver: true });
    this.#deps.onDue();
  }

  /** The output of a script; undefined when it did not end within its time, or was aborted. */
  async #exec(
    containerId: string,
    argv: readonly string[],
    until?: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly stdout: string } | undefined> {
    const over = new AbortController();
    const signal = until ?? over.signal;
    if (!until) void this.#deps.clock.sleep(EXEC_LIMIT_MS, over.signal).then(() => over.abort());
    const request = { argv, signal, outputLimitBytes: OUTPUT_LIMIT_BYTES };
    const output = await this.#deps.engine.exec(containerId, request);
    over.abort();
    return output.ok ? { exitCode: output.value.exitCode, stdout: output.value.stdout.toString() } : undefined;
  }
}

function isSame(a: TakenNotice, b: TakenNotice): boolean {
  return a.reason === b.reason && a.message === b.message && a.endsAtMs === b.endsAtMs;
}

/**
 * The signal that tells the renter's own process: the platform script passes on a signal of its own, since the
 * container would end with it.
 */
function signalOf(command: LaunchCommand, { container }: OwnContainer): SignalName | undefined {
  if (command.mode === "entrypoint") return "SIGTERM";
  return container.labels[LABEL_NOTICE_SIGNAL] === "SIGUSR1" ? "SIGUSR1" : undefined;
}
