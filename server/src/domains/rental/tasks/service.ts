import { createHash, randomUUID } from "node:crypto";
import type { Place, Task, TaskAction, TaskProgress, TaskResult } from "../../../../../protocol/index.ts";
import { conflict } from "../../../base/errors.ts";
import { asId, type InstanceId, type MachineId, type UserId } from "../../../base/ids.ts";
import type { Sealer } from "../../../base/seal.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  cancelCopiesTo,
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
import { noteOf, type NewTask, type RegistryAuth } from "./rules/task.ts";

/** What making tasks needs beyond a transaction. */
export type TaskMeans = { readonly random: (byteCount: number) => Buffer; readonly sealer: Sealer };

/** Of a result from the request for it, the wait for the host included. */
const RESULT_MS = 600_000;
/** Of what may take its time: the host has this long to finish, and is asked again whenever it comes back. */
const LONG_TASK_MS = 86_400_000;
/** A script that asks a host that hangs, again and again, is told so. */
const OPEN_TASKS_MAX = 32;
/** Results are up to a megabyte each: of one user's no more than these are kept at a time. */
const RESULTS_KEPT = 32;
const TOKEN_BYTES = 32;
const TRANSFER_ID_BYTES = 24;

/** Asks for something short whose output is to be fetched; returns what the address of the result ends in. */
export async function requestResult(tx: Tx, { random }: TaskMeans, task: NewTask): Promise<string> {
  await refuseTooMany(tx, task.userId);
  await deleteOlderResults(tx, task.userId, RESULTS_KEPT - 1);
  const token = random(TOKEN_BYTES).toString("base64url");
  await insertTask(tx, {
    ...task,
    id: randomUUID(),
    sealedAuth: undefined,
    resultSha256: hashOf(token),
    expiresAt: new Date(tx.now.getTime() + RESULT_MS),
  });
  await notifyTasks(tx, task.machineId);
  return token;
}

/** A copy, where from and where to. */
export type CopyOrder = {
  readonly userId: UserId;
  readonly source: Place;
  readonly destination: Place;
  readonly sourceMachineId: MachineId;
  readonly destinationMachineId: MachineId;
  /** The destination is a volume that was made for this. */
  readonly isFresh: boolean;
  /** On the way between two hosts. */
  readonly isCompressed: boolean;
};

/** A copy as it was asked for: the task of the host that writes, and until when it may take. */
export type StartedCopy = { readonly taskId: string; readonly expiresAt: Date };

/** Has one host copy, or two if it goes from one to the other; returns what tells of its end. */
export async function startCopyTask(tx: Tx, means: TaskMeans, order: CopyOrder): Promise<StartedCopy> {
  const { userId, source, destination, sourceMachineId, destinationMachineId } = order;
  const [from, to] = [source, destination].map(({ kind, id }) =>
    kind === "instance" ? asId<InstanceId>(id) : undefined,
  );
  if (sourceMachineId === destinationMachineId) {
    const action = { type: "copy" as const, source, destination, ...(order.isFresh ? { is_fresh: true } : {}) };
    // A volume has no status of its own: a copy to one is followed where it comes from.
    return startLongTask(tx, means, { machineId: sourceMachineId, userId, instanceId: to ?? from, action });
  }
  const transferId = means.random(TRANSFER_ID_BYTES).toString("base64url");
  const half = { transfer_id: transferId, source, destination, is_compressed: order.isCompressed };
  const sending = { machineId: sourceMachineId, userId, instanceId: from, action: { type: "send" as const, ...half } };
  await startLongTask(tx, means, sending, transferId);
  const action = { type: "receive" as const, ...half, is_fresh: order.isFresh };
  return startLongTask(tx, means, { machineId: destinationMachineId, userId, instanceId: to, action }, transferId);
}

/** Asks for something that goes on for a while, and that its owner follows in the status message. */
export async function startLongTask(
  tx: Tx,
  { sealer }: TaskMeans,
  task: NewTask,
  transferId?: string,
): Promise<StartedCopy> {
  await refuseTooMany(tx, task.userId);
  const id = randomUUID();
  const expiresAt = new Date(tx.now.getTime() + LONG_TASK_MS);
  const { action, auth } = withoutAuth(task.action);
  await insertTask(tx, {
    ...task,
    id,
    action,
    sealedAuth: auth === null ? undefined : sealer.seal(JSON.stringify(auth), contextOf(id)),
    resultSha256: undefined,
    expiresAt,
    ...(transferId === undefined ? {} : { transferId }),
  });
  await notifyTasks(tx, task.machineId);
  return { taskId: id, expiresAt };
}

/** Counted under a lock of the user's, the last that these transactions take: of many at once each sees those before it. */
async function refuseTooMany(tx: Tx, userId: UserId): Promise<void> {
  await lockNewTasks(tx, userId);
  if ((await countOpenTasks(tx.db, userId, tx.now)) < OPEN_TASKS_MAX) return;
  const message = `${OPEN_TASKS_MAX} of your requests to hosts are under way: wait until some of them are done.`;
  throw conflict("too_many_tasks", message);
}

function withoutAuth(action: TaskAction): { readonly action: TaskAction; readonly auth: RegistryAuth } {
  if (action.type !== "snapshot") return { action, auth: null };
  return { action: { ...action, registry_auth: null }, auth: action.registry_auth };
}

function contextOf(taskId: string): string {
  return `agent task ${taskId}`;
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Ends a user's copies to this place early; how many there were. */
export async function cancelCopies(
  tx: Tx,
  userId: UserId,
  place: { readonly kind: "instance" | "volume"; readonly id: number },
): Promise<number> {
  const machineIds = await cancelCopiesTo(tx, userId, place);
  for (const machineId of new Set(machineIds)) await notifyTasks(tx, machineId);
  return machineIds.length;
}

type OpenTasks = { readonly tasks: readonly Task[]; readonly cancelledIds: readonly string[] };

/** What hosts have not answered yet, each in its place: what it is to do, and what it is to leave off. */
export async function loadOpenTasks(
  db: Reader,
  sealer: Sealer,
  { machineIds, now }: { readonly machineIds: readonly MachineId[]; readonly now: Date },
): Promise<readonly OpenTasks[]> {
  const found = await listOpenTasks(db, machineIds, now);
  return machineIds.map((id) => {
    const open = found.get(id) ?? [];
    return {
      tasks: open.flatMap((task) => (task.isCancelled ? [] : (toMessage(task, sealer) ?? []))),
      cancelledIds: open.flatMap((task) => (task.isCancelled ? [task.id] : [])),
    };
  });
}

/** Undefined when its credentials do not open any more, as after a change of the server's secret: it then runs out. */
function toMessage({ id, action, sealedAuth }: OpenTask, sealer: Sealer): Task | undefined {
  if (sealedAuth === null || action.type !== "snapshot") return { kind: "task", task_id: id, action };
  const auth = sealer.open(sealedAuth, contextOf(id));
  if (auth === undefined) return undefined;
  return { kind: "task", task_id: id, action: { ...action, registry_auth: JSON.parse(auth) as RegistryAuth } };
}

/** A task that is over, and what came of it. */
export type EndedTask = { readonly id: string; readonly isSuccess: boolean; readonly text: string };

/**
 * Stores what a host says of a task; of one that is not its own, or that it has answered, nothing is changed. Returns what
 * is over by this.
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

/** The text at an address; undefined until it is there, and when its time is over. */
export function readResult(db: Reader, token: string, now: Date): Promise<string | undefined> {
  return findResult(db, hashOf(token), now);
}

/** What the status messages of these instances say on what is being done to them; most have nothing. */
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
