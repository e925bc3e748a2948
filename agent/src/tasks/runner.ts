import type { Task, TaskProgress, TaskResult } from "../wire/messages.ts";
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

/** Copies at once: a few keep the disks busy, a thousand would only keep everybody waiting. */
const RUNNING_LIMIT = 64;
/** Results that are kept for a server that sends a task again, since the answer was lost with the connection. */
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
    const { taskId } = task;
    if (this.#running.has(taskId)) return;
    const done = this.#done.get(taskId);
    if (done) {
      done.isSent = this.#deps.send(done.result);
      return;
    }
    if (this.#running.size >= RUNNING_LIMIT) {
      const text = "the host is busy with as many tasks as it takes; ask again later";
      this.#conclude({ kind: "task_result", taskId, isSuccess: false, text });
      return;
    }
    const running: Running = { abort: new AbortController(), occupied: [] };
    this.#running.set(taskId, running);
    void this.#perform(task, running);
  }

  cancel(taskId: string): void {
    this.#running.get(taskId)?.abort.abort("it was cancelled");
  }

  /** Sends results that no connection has carried yet; called after a reconnect. */
  resend(): void {
    for (const done of this.#done.values()) if (!done.isSent) done.isSent = this.#deps.send(done.result);
  }

  /**
   * Ends what uses the files of an instance that does not run, and resolves when they are let go of. To be awaited
   * before its container is started or removed; from then on `findInstance` has to say that it is busy.
   */
  async vacate(instanceId: number): Promise<void> {
    for (const { abort, occupied } of this.#running.values()) {
      if (occupied.includes(instanceId)) abort.abort("the instance is being started or removed");
    }
    await this.#turns.take([instanceId], () => Promise.resolve());
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort("the agent stops");
  }

  async #perform(task: Task, running: Running): Promise<void> {
    const { taskId, action } = task;
    const { log } = this.#deps;
    const about = {
      task_id: taskId,
      type: action.type,
      ...("instanceId" in action ? { instance_id: action.instanceId } : {}),
    };
    log.info(about, "a task begins");
    const { signal } = running.abort;
    let result: Result<string>;
    try {
      const occupies = (instanceIds: readonly number[]) => {
        running.occupied = instanceIds;
      };
      result = await performAction(this.#context, action, { taskId, signal, occupies, show: this.#shower(taskId) });
    } catch (cause) {
      // No action throws by its contract; the task still gets a result.
      result = { ok: false, failure: { kind: "refused", message: String(cause) } };
    }
    this.#running.delete(taskId);
    const isSuccess = result.ok;
    const text = result.ok ? result.value : explain(result.failure, signal);
    log.info({ ...about, is_success: isSuccess }, "a task ends");
    this.#conclude({ kind: "task_result", taskId, isSuccess, text: plain(text).slice(0, TEXT_LIMIT) });
  }

  /** Progress is for somebody who looks right now: what cannot be sent is forgotten, and it does not come too often. */
  #shower(taskId: string): (text: string, copiedBytes?: number) => void {
    const { clock } = this.#deps;
    let nextMs = -Infinity;
    return (text, copiedBytes) => {
      const now = clock.monotonicMs();
      if (now < nextMs) return;
      nextMs = now + PROGRESS_EVERY_MS;
      const amount = copiedBytes === undefined ? {} : { copiedBytes };
      this.#deps.send({ kind: "task_progress", taskId, text: plain(text).slice(0, PROGRESS_LIMIT), ...amount });
    };
  }

  #conclude(result: TaskResult): void {
    this.#done.set(result.taskId, { result, isSent: this.#deps.send(result) });
    let characters = 0;
    for (const done of this.#done.values()) characters += done.result.text.length;
    for (const [taskId, done] of this.#done) {
      if (this.#done.size <= DONE_KEPT && characters <= DONE_CHARACTERS_KEPT) return;
      characters -= done.result.text.length;
      this.#done.delete(taskId);
    }
  }
}

function explain(failure: EngineFailure, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason);
  if (failure.kind === "unreachable") return `the container engine is silent: ${failure.message}`;
  return failure.message;
}

/** The text without zero characters, which end a text for the server's database, among others. */
function plain(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
