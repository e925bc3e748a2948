import type { Hello } from "../../../../../../protocol/index.ts";
import type { SessionPorts } from "./agent-session.ts";

const TOO_OLD = "the agent of this machine is of a version that makes no backups: its host has to update it";

/**
 * Answers tasks that an agent of an earlier version does not know in its place: a message that it cannot read would end
 * its connection, again and again.
 */
export function answerUnknownTasks<Ports extends SessionPorts>(hello: Hello, ports: Ports): Ports {
  if (hello.makes_backups === true) return ports;
  const loadTasks: SessionPorts["loadTasks"] = async (machineId) => {
    const { tasks, cancelledIds } = await ports.loadTasks(machineId);
    const [unknown, known] = [
      tasks.filter(({ action }) => action.type === "back_up"),
      tasks.filter(({ action }) => action.type !== "back_up"),
    ];
    for (const { task_id } of unknown) {
      await ports.recordTask(machineId, { kind: "task_result", task_id, is_success: false, text: TOO_OLD });
    }
    return { tasks: known, cancelledIds };
  };
  return { ...ports, loadTasks };
}
