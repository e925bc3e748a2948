import type { DesiredInstance, Report, ServerMessage, Task } from "../../../../../../protocol/index.ts";

/** Tasks that a machine was given and has not answered: those to do, and those to leave off. */
export type OpenTasks = { readonly tasks: readonly Task[]; readonly cancelledIds: readonly string[] };

type Told = "to do" | "to leave off" | "answered";
type Stand = { readonly generation: number; readonly sinceVersion: number };

// Most sessions of a large market have no orders: one empty map of each kind is enough for all of them.
const NO_ORDERS: ReadonlyMap<number, Stand> = new Map();
const NO_GPUS: ReadonlyMap<number, readonly string[]> = new Map();
const NO_TASKS: ReadonlyMap<string, Told> = new Map();

/** The orders and tasks that were sent on one connection, so that reports and answers can be compared with them. */
export class SessionOrders {
  #version = 0;
  /** Instances that the host was ordered to stop: in which generation, and since which version of the desired set. */
  #ordersDown = NO_ORDERS;
  #gpus = NO_GPUS;
  /** Tasks that are not over yet. */
  #tasks = NO_TASKS;

  /** GPUs of each instance by its last order. */
  get gpusOf(): ReadonlyMap<number, readonly string[]> {
    return this.#gpus;
  }

  /** Notes a new desired set and returns its version. */
  nextVersion(instances: readonly DesiredInstance[]): number {
    this.#version += 1;
    const before = this.#ordersDown;
    const now = new Map<number, Stand>();
    for (const { instance_id: id, generation, run, notice } of instances) {
      // Under an eviction notice the agent takes the instance down by itself, and does not start it again.
      if (run === "running" && notice === undefined) continue;
      const known = before.get(id);
      const sinceVersion = known?.generation === generation ? known.sinceVersion : this.#version;
      now.set(id, { generation, sinceVersion });
    }
    this.#ordersDown = now.size === 0 ? NO_ORDERS : now;
    const gpus = instances.map((instance) => [instance.instance_id, instance.gpu_uuids] as const);
    this.#gpus = gpus.length === 0 ? NO_GPUS : new Map(gpus);
    return this.#version;
  }

  /** Notes the tasks that are open now and returns the messages that the agent has not had yet. */
  nextTasks({ tasks, cancelledIds }: OpenTasks): readonly ServerMessage[] {
    const messages: ServerMessage[] = [];
    const before = this.#tasks;
    const now = new Map<string, Told>();
    for (const task of tasks) {
      const told = before.get(task.task_id);
      if (told === undefined) messages.push(task);
      now.set(task.task_id, told ?? "to do");
    }
    for (const id of cancelledIds) {
      const told = before.get(id);
      if (told !== "to leave off" && told !== "answered") messages.push({ kind: "cancel_task", task_id: id });
      now.set(id, told === "answered" ? told : "to leave off");
    }
    this.#tasks = now.size === 0 ? NO_TASKS : now;
    return messages;
  }

  /** The agent has answered a task. Tasks that were read before the answer is stored must not be given a second time. */
  noteAnswer(taskId: string): void {
    if (this.#tasks.has(taskId)) this.#tasks = new Map(this.#tasks).set(taskId, "answered");
  }

  /** Instances that the host was ordered to stop, in the generation of its report, before it made the report. */
  obeyedIn(report: Report): ReadonlySet<number> {
    const obeyed = new Set<number>();
    for (const { instance_id: id, generation } of report.instances) {
      const order = this.#ordersDown.get(id);
      if (order?.generation === generation && order.sinceVersion <= report.desired_version) obeyed.add(id);
    }
    return obeyed;
  }
}
