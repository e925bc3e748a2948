import type { Task, TaskProgress, TaskResult } from "../../../protocol/index.ts";
import type { EngineFailure, Result } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";
import { performAction, type ActionContext } from "./actions.ts";
import { FileTurns } from "./file-turns.ts";

export type TaskDependencies = Omit<ActionContext, "turns"> & {
  readonly log: Log;
  /** False when there is no connection that could carry it. */
  send(message: TaskProgress | TaskResult): boolean;
};

type Running = {
  readonly abort: AbortController;
  /** Instances that do not run and whose files it uses or waits for. */
  occupied: readonly number[];
};
type Done = { readonly result: TaskResult; isSent: boolean };

/** Copies of a few renters at once keep the disks busy; a thousand would only keep everybody waiting. */
const RUNNING_LIMIT = 64;
/** For a server that asks again because the answer was lost with the connection. */
const DONE_KEPT = 64;
const DONE_CHARACTERS_KEPT = 16 * 1024 * 1024;
const PROGRESS_EVERY_MS = 1_000;
const TEXT_LIMIT = 1_048_576;
const PROGRESS_LIMIT = 1_024;

/**
 * Does what the server asks once, beside the desired set. Results are kept until there was a connection to carry them,
 * and a while longer: a task that comes again is answered again, not done again.
 */
export class TaskRunner {
  readonly #deps: TaskDependencies;
  readonly #context: ActionContext;
  readonly #turns = new FileTurns();
  readonly #running = new Map<string, Running>();
  readonly #done = new Map<string, Done>();

  constructor(deps: TaskDependencies) {
    this.#deps = deps;
    this.#context = { ...deps, turns: this.#turns };
  }

  run(task: Task): void {
    const { task_id } = task;
    if (this.#running.has(task_id)) return;
    const done = this.#done.get(task_id);
    if (done) {
      done.isSent = this.#deps.send(done.result);
      return;
    }
    if (this.#running.size >= RUNNING_LIMIT) {
      const text = "the host is busy with as many tasks as it takes; ask again later";
      this.#conclude({ kind: "task_result", task_id, is_success: false, text });
      return;
    }
    const running: Running = { abort: new AbortController(), occupied: [] };
    this.#running.set(task_id, running);
    void this.#perform(task, running);
  }

  cancel(task_id: string): void {
    this.#running.get(task_id)?.abort.abort("it was cancelled");
  }

  /** After a reconnect: results that no connection has carried yet. */
  resend(): void {
    for (const done of this.#done.values()) if (!done.isSent) done.isSent = this.#deps.send(done.result);
  }

  /**
   * Ends what uses the files of an instance that does not run, and resolves when they are let go of. To be awaited
   * before its container is started or removed; from then on `findInstance` has to say that it is busy.
   */
  async vacate(instance_id: number): Promise<void> {
    for (const { abort, occupied } of this.#running.values()) {
      if (occupied.includes(instance_id)) abort.abort("the instance is being started or removed");
    }
    await this.#turns.take([instance_id], () => Promise.resolve());
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort("the agent stops");
  }

  async #perform(task: Task, running: Running): Promise<void> {
    const { task_id, action } = task;
    const { log } = this.#deps;
    const about = {
      task_id,
      type: action.type,
      ...("instance_id" in action ? { instance_id: action.instance_id } : {}),
    };
    log.info(about, "task begins");
    const { signal } = running.abort;
    let result: Result<string>;
    try {
      const occupies = (instance_ids: readonly number[]) => {
        running.occupied = instance_ids;
      };
      result = await performAction(this.#context, action, { task_id, signal, occupies, show: this.#shower(task_id) });
    } catch (cause) {
      // Nothing of the kind is expected; whoever waits for the result is still to get one.
      result = { ok: false, failure: { kind: "refused", message: String(cause) } };
    }
    this.#running.delete(task_id);
    const is_success = result.ok;
    const text = result.ok ? result.value : explain(result.failure, signal);
    log.info({ ...about, is_success }, "task ends");
    this.#conclude({ kind: "task_result", task_id, is_success, text: plain(text).slice(0, TEXT_LIMIT) });
  }

  /** Progress is for somebody who looks right now: what cannot be sent is forgotten, and it does not come too often. */
  #shower(task_id: string): (text: string, copied_bytes?: number) => void {
    const { clock } = this.#deps;
    let next_ms = -Infinity;
    return (text, copied_bytes) => {
      const now = clock.monotonicMs();
      if (now < next_ms) return;
      next_ms = now + PROGRESS_EVERY_MS;
      const amount = copied_bytes === undefined ? {} : { copied_bytes };
      this.#deps.send({ kind: "task_progress", task_id, text: plain(text).slice(0, PROGRESS_LIMIT), ...amount });
    };
  }

  #conclude(result: TaskResult): void {
    this.#done.set(result.task_id, { result, isSent: this.#deps.send(result) });
    let characters = 0;
    for (const done of this.#done.values()) characters += done.result.text.length;
    for (const [task_id, done] of this.#done) {
      if (this.#done.size <= DONE_KEPT && characters <= DONE_CHARACTERS_KEPT) return;
      characters -= done.result.text.length;
      this.#done.delete(task_id);
    }
  }
}

function explain(failure: EngineFailure, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason);
  if (failure.kind === "unreachable") return `the container engine is silent: ${failure.message}`;
  return failure.message;
}

/** A zero character means the end of a text to many, the server's database among them. */
function plain(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
