import type { Hello, TaskAction } from "../../../../../../protocol/index.ts";
import type { SessionPorts } from "./agent-session.ts";

/** Why an agent that says nothing of a kind of task is not asked for it; undefined for kinds that all agents know. */
function unknownTo(hello: Hello, { type }: TaskAction): string | undefined {
  if (type === "back_up" && hello.makes_backups !== true) {
    return "the agent of this machine is of a version that makes no backups: its host has to update it";
  }
  if (type === "cloud_copy" && hello.copies_to_clouds !== true) {
    return "this machine copies nothing from or to cloud storage: its host has to update the agent, and install rclone and ca-certificates";
  }
  return undefined;
}

/**
 * Answers tasks that an agent does not know in its place, as one of an earlier version: a message that it cannot read would
 * end its connection, again and again.
 */
export function answerUnknownTasks<Ports extends SessionPorts>(hello: Hello, ports: Ports): Ports {
  const loadTasks: SessionPorts["loadTasks"] = async (machineId) => {
    const { tasks, cancelledIds } = await ports.loadTasks(machineId);
    for (const { task_id, action } of tasks) {
      const text = unknownTo(hello, action);
      if (text === undefined) continue;
      await ports.recordTask(machineId, { kind: "task_result", task_id, is_success: false, text });
    }
    return { tasks: tasks.filter(({ action }) => unknownTo(hello, action) === undefined), cancelledIds };
  };
  return { ...ports, loadTasks };
}
