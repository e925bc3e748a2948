import type { Place, TaskAction } from "../../../../../../protocol/index.ts";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";

/** Credentials in an action, which its row keeps encrypted and apart. */
export type TaskAuth =
  | Extract<TaskAction, { readonly type: "snapshot" }>["registry_auth"]
  | Extract<TaskAction, { readonly type: "cloud_copy" }>["settings"];

/** A task that a host is asked to do once, and the user it is for. */
export type NewTask = {
  readonly machineId: MachineId;
  readonly userId: UserId;
  /** The instance whose status message shows the progress; undefined for a copy between volumes. */
  readonly instanceId: InstanceId | undefined;
  readonly action: TaskAction;
};

/** A task that takes a while, with the facts that its owner may see. */
export type LongTask = {
  readonly action: Extract<TaskAction, { readonly type: "copy" | "send" | "receive" | "snapshot" | "cloud_copy" }>;
  /** True when the source is a backup of the instance or volume that the action names. */
  readonly isFromBackup: boolean;
  readonly cancelledAt: Date | undefined;
  readonly completedAt: Date | undefined;
  readonly isSuccess: boolean;
  /** The progress while it runs; its output once it is over. */
  readonly text: string;
};

/** Lifetime of a result from the request for it, with the time until the host answers; of a cloud copy, from its end. */
export const RESULT_MS = 600_000;
/** The end of a task is shown for this time. */
export const NOTE_MS = 60_000;
const TEXT_LENGTH_MAX = 500;
/** Words that clients take for a failure of the instance (docs/contract-rules.md#words-of-an-instances-status). */
const ALARMING = /error|failed|failure|exception|traceback|oci runtime|permission denied/i;

/**
 * One sentence on the newest task of an instance, running tasks before finished ones; undefined when there is nothing
 * to say. Texts of hosts and names of files cannot make progress look like a failure.
 */
export function noteOf(newestFirst: readonly LongTask[], now: Date): string | undefined {
  const task = newestFirst.find((one) => endOf(one) === undefined) ?? newestFirst.find((one) => isFresh(one, now));
  return task && sentenceOf(task);
}

function endOf({ cancelledAt, completedAt }: LongTask): Date | undefined {
  return cancelledAt ?? completedAt;
}

function isFresh(task: LongTask, now: Date): boolean {
  const end = endOf(task);
  return end !== undefined && now.getTime() - end.getTime() < NOTE_MS;
}

function sentenceOf(task: LongTask): string {
  const { action, cancelledAt, completedAt, isSuccess } = task;
  const [doing, done] =
    action.type === "snapshot"
      ? [`taking a snapshot`, `snapshot to ${action.repository}:${action.tag}`]
      : [`copying ${routeOf(action, task)}`, `copy ${routeOf(action, task)}`];
  if (cancelledAt !== undefined) return `${done} was cancelled`;
  const text = oneLine(task.text);
  if (completedAt === undefined) return text === "" || ALARMING.test(text) ? doing : `${doing}: ${text}`;
  if (isSuccess) return `${done} is complete`;
  return `${done} ended early: ${text}`;
}

function routeOf(
  action: Exclude<LongTask["action"], { readonly type: "snapshot" }>,
  { isFromBackup }: Pick<LongTask, "isFromBackup">,
): string {
  if (action.type === "cloud_copy") {
    const [place, cloud] = [nameOf(action.place), action.connection];
    return action.is_upload ? `from ${place} to ${cloud}` : `from ${cloud} to ${place}`;
  }
  const { source, destination } = action;
  return `from ${isFromBackup ? backupNameOf(source) : nameOf(source)} to ${nameOf(destination)}`;
}

/** The name of a backup as clients write it: `vast.12`. */
export function backupNameOf({ id }: Pick<Place, "id">): string {
  return `vast.${id}`;
}

/** The name of a place as clients write it: `C.12`, `V.7`. */
export function nameOf({ kind, id }: Pick<Place, "kind" | "id">): string {
  return `${kind === "instance" ? "C" : "V"}.${id}`;
}

function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > TEXT_LENGTH_MAX ? `${line.slice(0, TEXT_LENGTH_MAX).toWellFormed()}…` : line;
}
