import { createHash, randomUUID } from "node:crypto";
import type { Place, Task, TaskAction, TaskProgress, TaskResult } from "../../../../../protocol/index.ts";
import { conflict } from "../../../base/errors.ts";
import { asId, type InstanceBackupId, type InstanceId, type MachineId, type UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  cancelTasksWith,
  countOpenTasks,
  deleteOlderResults,
  findResult,
  insertTask,
  listLongTasks,
  listOpenTasks,
  lockNewTasks,
  notifyTasks,
  setProgress,
  setResult,
  type OpenTask,
} from "./store.ts";
import { noteOf, RESULT_MS, type NewTask, type TaskAuth } from "./rules/task.ts";

/** Randomness and encryption, which making a task needs besides a transaction. */
export type TaskMeans = { readonly random: (byteCount: number) => Buffer; readonly encryption: Encryption };

/** Time that a host has to finish a long task; it is asked again each time it reconnects. */
const LONG_TASK_MS = 86_400_000;
/** Bound of a user's open tasks, against a script that asks a hanging host again and again. */
const OPEN_TASKS_MAX = 32;
/** Bound of a user's stored results, which are up to a megabyte each. */
const RESULTS_KEPT = 32;
const TOKEN_BYTES = 32;
const TRANSFER_ID_BYTES = 24;

/** Asks a host for a short task whose output is fetched later; returns the last part of the result's address. */
export async function requestResult(tx: Tx, { random }: TaskMeans, task: NewTask): Promise<string> {
  await refuseTooMany(tx, task.userId);
  await deleteOlderResults(tx, task.userId, RESULTS_KEPT - 1);
  const token = random(TOKEN_BYTES).toString("base64url");
  await insertTask(tx, {
    ...task,
    id: randomUUID(),
    encryptedAuth: undefined,
    resultSha256: hashOf(token),
    expiresAt: new Date(tx.now.getTime() + RESULT_MS),
  });
  await notifyTasks(tx, task.machineId);
  return token;
}

/** A copy with its source and its destination. */
export type CopyOrder = {
  readonly userId: UserId;
  readonly source: Place;
  readonly destination: Place;
  readonly sourceMachineId: MachineId;
  readonly destinationMachineId: MachineId;
  /** True when the destination is a volume that was made for this copy. */
  readonly isFresh: boolean;
  /** True to compress on the way between two hosts. */
  readonly isCompressed: boolean;
};

/** A started copy: the task of the host that writes, and its deadline. */
export type StartedCopy = { readonly taskId: string; readonly expiresAt: Date };

/** Has one host copy within itself, or two hosts copy from one to the other; returns the task that reports the end. */
export async function startCopyTask(tx: Tx, means: TaskMeans, order: CopyOrder): Promise<StartedCopy> {
  const { userId, source, destination, sourceMachineId, destinationMachineId } = order;
  const [from, to] = [source, destination].map(({ kind, id }) =>
    kind === "instance" ? asId<InstanceId>(id) : undefined,
  );
  if (sourceMachineId === destinationMachineId) {
    const action = { type: "copy" as const, source, destination, ...(order.isFresh ? { is_fresh: true } : {}) };
    // A volume has no status of its own, so a copy to one is shown at its source.
    return startLongTask(tx, means, { machineId: sourceMachineId, userId, instanceId: to ?? from, action });
  }
  const transferId = means.random(TRANSFER_ID_BYTES).toString("base64url");
  const half = { transfer_id: transferId, source, destination, is_compressed: order.isCompressed };
  const sending = { machineId: sourceMachineId, userId, instanceId: from, action: { type: "send" as const, ...half } };
  await startLongTask(tx, means, sending, { transferId });
  const action = { type: "receive" as const, ...half, is_fresh: order.isFresh };
  return startLongTask(tx, means, { machineId: destinationMachineId, userId, instanceId: to, action }, { transferId });
}

/** A backup that a host is asked for. */
export type BackupOrder = {
  readonly backupId: InstanceBackupId;
  readonly machineId: MachineId;
  readonly userId: UserId;
  readonly source: Pick<Place, "kind" | "id">;
};

/** Asks a host for a backup; returns the task. It is the service's own request and counts in no limit of the user's. */
export async function startBackupTask(
  tx: Tx,
  { random }: TaskMeans,
  { backupId, machineId, userId, source }: BackupOrder,
): Promise<string> {
  const [id, transferId] = [randomUUID(), random(TRANSFER_ID_BYTES).toString("base64url")];
  const place = { kind: source.kind, id: source.id, path: "/" };
  await insertTask(tx, {
    ...{ id, transferId, backupId, machineId, userId },
    instanceId: undefined,
    action: { type: "back_up", transfer_id: transferId, source: place },
    encryptedAuth: undefined,
    resultSha256: undefined,
    expiresAt: new Date(tx.now.getTime() + LONG_TASK_MS),
  });
  await notifyTasks(tx, machineId);
  return id;
}

/** A copy from a backup to an instance or volume of the user's. */
export type RestoreOrder = {
  readonly backupId: InstanceBackupId;
  readonly userId: UserId;
  readonly source: Place;
  readonly destination: Place;
  readonly destinationMachineId: MachineId;
};

/** Has a host receive files of a backup, which a server sends. */
export async function startRestoreTask(tx: Tx, means: TaskMeans, order: RestoreOrder): Promise<void> {
  const { backupId, userId, source, destination, destinationMachineId: machineId } = order;
  const transferId = means.random(TRANSFER_ID_BYTES).toString("base64url");
  const action = {
    ...{ type: "receive" as const, transfer_id: transferId, source, destination },
    ...{ is_compressed: true, is_fresh: false },
  };
  const instanceId = destination.kind === "instance" ? asId<InstanceId>(destination.id) : undefined;
  await startLongTask(tx, means, { machineId, userId, instanceId, action }, { transferId, backupId });
}

/** Starts a copy with a cloud storage: its owner sees the progress in the status message, and its end at an address too. */
export async function startCloudCopyTask(tx: Tx, means: TaskMeans, task: NewTask): Promise<string> {
  await deleteOlderResults(tx, task.userId, RESULTS_KEPT - 1);
  const token = means.random(TOKEN_BYTES).toString("base64url");
  await startLongTask(tx, means, task, { resultSha256: hashOf(token) });
  return token;
}

/** Starts a task that takes a while and whose progress the owner sees in the status message. */
export async function startLongTask(
  tx: Tx,
  { encryption }: TaskMeans,
  task: NewTask,
  more: {
    readonly transferId?: string;
    readonly backupId?: InstanceBackupId;
    readonly resultSha256?: Buffer;
  } = {},
): Promise<StartedCopy> {
  await refuseTooMany(tx, task.userId);
  const id = randomUUID();
  const expiresAt = new Date(tx.now.getTime() + LONG_TASK_MS);
  const { action, auth } = withoutAuth(task.action);
  await insertTask(tx, {
    ...task,
    id,
    action,
    encryptedAuth: auth === null ? undefined : encryption.encrypt(JSON.stringify(auth), contextOf(id)),
    resultSha256: undefined,
    expiresAt,
    ...more,
  });
  await notifyTasks(tx, task.machineId);
  return { taskId: id, expiresAt };
}

/**
 * Refuses a task beyond the limit. The count is made under the user's lock, the last that these transactions take, so
 * that many tasks at once see each other.
 */
async function refuseTooMany(tx: Tx, userId: UserId): Promise<void> {
  await lockNewTasks(tx, userId);
  if ((await countOpenTasks(tx.db, userId, tx.now)) < OPEN_TASKS_MAX) return;
  const message = `${OPEN_TASKS_MAX} of your requests to hosts are under way: wait until some of them are done.`;
  throw conflict("too_many_tasks", message);
}

function withoutAuth(action: TaskAction): { readonly action: TaskAction; readonly auth: TaskAuth } {
  if (action.type === "snapshot") return { action: { ...action, registry_auth: null }, auth: action.registry_auth };
  if (action.type === "cloud_copy") return { action: { ...action, settings: null }, auth: action.settings };
  return { action, auth: null };
}

function contextOf(taskId: string): string {
  return `agent task ${taskId}`;
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Cancels a user's running copies to this place; returns their number. */
export async function cancelCopies(
  tx: Tx,
  userId: UserId,
  place: { readonly kind: "instance" | "volume"; readonly id: number },
): Promise<number> {
  // Only copies have a destination.
  return cancelWith(tx, userId, { destination: placeOnly(place) });
}

/** Cancels a user's running copies between this place and cloud storage, in both directions; returns their number. */
export async function cancelCloudCopies(tx: Tx, userId: UserId, place: Pick<Place, "kind" | "id">): Promise<number> {
  return cancelWith(tx, userId, { type: "cloud_copy", place: placeOnly(place) });
}

function placeOnly({ kind, id }: Pick<Place, "kind" | "id">) {
  return { kind, id };
}

async function cancelWith(tx: Tx, userId: UserId, members: Readonly<Record<string, unknown>>): Promise<number> {
  const machineIds = await cancelTasksWith(tx, userId, members);
  for (const machineId of new Set(machineIds)) await notifyTasks(tx, machineId);
  return machineIds.length;
}

type OpenTasks = { readonly tasks: readonly Task[]; readonly cancelledIds: readonly string[] };

/** The tasks that hosts have not answered yet, by machine: those to do, and those to cancel. */
export async function loadOpenTasks(
  db: Reader,
  encryption: Encryption,
  { machineIds, now }: { readonly machineIds: readonly MachineId[]; readonly now: Date },
): Promise<readonly OpenTasks[]> {
  const found = await listOpenTasks(db, machineIds, now);
  return machineIds.map((id) => {
    const open = found.get(id) ?? [];
    return {
      tasks: open.flatMap((task) => (task.isCancelled ? [] : (toMessage(task, encryption) ?? []))),
      cancelledIds: open.flatMap((task) => (task.isCancelled ? [task.id] : [])),
    };
  });
}

/**
 * The message for a host; undefined when the credentials no longer decrypt, as after a change of the server's secret.
 * The task then runs out.
 */
function toMessage({ id, action, encryptedAuth }: OpenTask, encryption: Encryption): Task | undefined {
  if (encryptedAuth === null) return { kind: "task", task_id: id, action };
  const auth = encryption.decrypt(encryptedAuth, contextOf(id));
  if (auth === undefined) return undefined;
  const member = action.type === "cloud_copy" ? "settings" : "registry_auth";
  return { kind: "task", task_id: id, action: { ...action, [member]: JSON.parse(auth) } };
}

/** A task that is over, and its outcome. */
export type EndedTask = { readonly id: string; readonly isSuccess: boolean; readonly text: string };

/**
 * Stores the report of a host on a task. A task of another machine, or one that is answered already, stays as it is.
 * Returns the tasks that are over by this.
 */
export async function recordTaskMessage(
  tx: Tx,
  machineId: MachineId,
  message: TaskProgress | TaskResult,
): Promise<readonly EndedTask[]> {
  const task = { machineId, taskId: message.task_id };
  if (message.kind === "task_progress") {
    await setProgress(tx, task, { text: message.text, copiedBytes: message.copied_bytes });
    return [];
  }
  const answer = { isSuccess: message.is_success, text: message.text };
  return (await setResult(tx, task, answer)).map((id) => ({ id, ...answer }));
}

/** The text at an address; undefined until it is there, and after its time. */
export function readResult(db: Reader, token: string, now: Date): Promise<string | undefined> {
  return findResult(db, hashOf(token), now);
}

/** The sentences of the status messages on the tasks of these instances; most instances have none. */
export async function listNotes(
  db: Reader,
  instanceIds: readonly InstanceId[],
  now: Date,
): Promise<ReadonlyMap<InstanceId, string>> {
  const tasks = await listLongTasks(db, instanceIds, now);
  return new Map(
    [...tasks].flatMap(([id, own]) => {
      const note = noteOf(own, now);
      return note === undefined ? [] : [[id, note] as const];
    }),
  );
}
