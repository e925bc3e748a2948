import { sql } from "kysely";
import type { TaskAction, TransferSide } from "../../../../../protocol/index.ts";
import type { InstanceBackupId, InstanceId, MachineId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { NOTE_MS, RESULT_MS, type LongTask, type NewTask } from "./rules/task.ts";

/** Channel on which every process learns that a machine has a task to do or to cancel. */
export const TASKS_CHANNEL = "tasks_changed";

/** Sends the machine's id at commit. */
export async function notifyTasks(tx: Tx, machineId: MachineId): Promise<void> {
  await sql`select pg_notify(${TASKS_CHANNEL}, ${String(machineId)})`.execute(tx.db);
}

export type StoredTask = NewTask & {
  readonly id: string;
  /** Set, to the same id, on both halves of a copy between hosts. */
  readonly transferId?: string;
  /** Set where the other half is a backup, which a server receives or sends. */
  readonly backupId?: InstanceBackupId;
  readonly encryptedAuth: string | undefined;
  readonly resultSha256: Buffer | undefined;
  readonly expiresAt: Date;
};

export async function insertTask(tx: Tx, task: StoredTask): Promise<void> {
  await tx.db
    .insertInto("agent_tasks")
    .values({
      id: task.id,
      machine_id: task.machineId,
      instance_id: task.instanceId ?? null,
      user_id: task.userId,
      action: JSON.stringify(task.action),
      transfer_id: task.transferId ?? null,
      backup_id: task.backupId ?? null,
      sealed_auth: task.encryptedAuth ?? null,
      result_sha256: task.resultSha256 ?? null,
      created_at: tx.now,
      expires_at: task.expiresAt,
    })
    .execute();
}

/** Takes the lock of the user's new tasks until the commit, so that their count can be relied on. */
export async function lockNewTasks(tx: Tx, userId: UserId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('agent_tasks'), ${userId}::integer)`.execute(tx.db);
}

/** Counts a user's tasks that no host has answered yet, without those that the service itself gave. */
export async function countOpenTasks(db: Reader, userId: UserId, now: Date): Promise<number> {
  const row = await db
    .selectFrom("agent_tasks")
    .select(sql<number>`count(*)::integer`.as("open"))
    .where("user_id", "=", userId)
    .where("completed_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("expires_at", ">", now)
    .where(sql<boolean>`action ->> 'type' <> 'back_up'`)
    .executeTakeFirstOrThrow();
  return row.open;
}

/** Deletes a user's answered results, except the newest `keep`. */
export async function deleteOlderResults(tx: Tx, userId: UserId, keep: number): Promise<void> {
  const older = tx.db
    .selectFrom("agent_tasks")
    .select("id")
    .where("user_id", "=", userId)
    .where("completed_at", "is not", null)
    .orderBy("number", "desc")
    .offset(keep);
  await tx.db.deleteFrom("agent_tasks").where("id", "in", older).execute();
}

export type OpenTask = {
  readonly id: string;
  readonly action: TaskAction;
  readonly encryptedAuth: string | null;
  readonly isCancelled: boolean;
};

const TASKS_PER_MACHINE_MAX = 1000;

/** The tasks that these machines have not answered yet, oldest first. */
export async function listOpenTasks(
  db: Reader,
  machineIds: readonly MachineId[],
  now: Date,
): Promise<ReadonlyMap<MachineId, readonly OpenTask[]>> {
  const { rows } = await sql<OpenTask & { readonly machineId: MachineId }>`
    select asked.id as "machineId", open.id, open.action, open.sealed_auth as "encryptedAuth",
      open.cancelled_at is not null as "isCancelled"
    from unnest(${machineIds}::integer[]) as asked (id) cross join lateral (
      select * from agent_tasks
      where machine_id = asked.id and completed_at is null and expires_at > ${now}::timestamptz
      order by number limit ${TASKS_PER_MACHINE_MAX}
    ) as open
  `.execute(db);
  return Map.groupBy(rows, (row) => row.machineId);
}

export type TaskOf = { readonly machineId: MachineId; readonly taskId: string };

/** Stores progress. Only the machine that has the task may report on it, and only until it has answered. */
export async function setProgress(
  tx: Tx,
  { machineId, taskId }: TaskOf,
  { text, copiedBytes }: { readonly text: string; readonly copiedBytes: number | undefined },
): Promise<void> {
  await tx.db
    .updateTable("agent_tasks")
    .set({ progress: storable(text), ...(copiedBytes === undefined ? {} : { copied_bytes: BigInt(copiedBytes) }) })
    .where("id", "=", taskId)
    .where("machine_id", "=", machineId)
    .where("completed_at", "is", null)
    .execute();
}

/**
 * Stores the first answer to a task; a repeated one changes nothing. The answer to one half of a copy between hosts
 * answers the other half too, whose host learns of it when it asks for the connection. A result without an address is
 * kept for the status message only. Returns the tasks that are over by this.
 */
export async function setResult(
  tx: Tx,
  { machineId, taskId }: TaskOf,
  { isSuccess, text }: { readonly isSuccess: boolean; readonly text: string },
): Promise<readonly string[]> {
  const resultEndAt = new Date(tx.now.getTime() + RESULT_MS);
  const noteEndAt = new Date(tx.now.getTime() + NOTE_MS);
  const answered = tx.db
    .selectFrom("agent_tasks as answered")
    .select("transfer_id")
    .where("id", "=", taskId)
    .where("machine_id", "=", machineId)
    .where("completed_at", "is", null);
  const rows = await tx.db
    .updateTable("agent_tasks")
    .set((eb) => ({
      completed_at: tx.now,
      is_success: isSuccess,
      result: storable(text),
      sealed_auth: null,
      expires_at: sql<Date>`case when action ->> 'type' = 'cloud_copy'
        then least(${eb.ref("expires_at")}, ${resultEndAt}::timestamptz) when result_sha256 is null
        then least(${eb.ref("expires_at")}, ${noteEndAt}::timestamptz) else ${eb.ref("expires_at")} end`,
    }))
    .where((eb) =>
      eb.or([eb.and([eb("id", "=", taskId), eb("machine_id", "=", machineId)]), eb("transfer_id", "in", answered)]),
    )
    .where("completed_at", "is", null)
    .returning("id")
    .execute();
  return rows.map((row) => row.id);
}

/** Hosts send what containers print, and the database's text type holds no NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\u{FFFD}").toWellFormed();
}

/** The text behind an address, once it is there and until its time is over. */
export async function findResult(db: Reader, resultSha256: Buffer, now: Date): Promise<string | undefined> {
  const row = await db
    .selectFrom("agent_tasks")
    .select("result")
    .where("result_sha256", "=", resultSha256)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row?.result ?? undefined;
}

/** The machine of this half of a copy between hosts; undefined when the half is over. */
export async function findTransferHost(
  db: Reader,
  { transferId, side, now }: { readonly transferId: string; readonly side: TransferSide; readonly now: Date },
): Promise<MachineId | undefined> {
  const row = await db
    .selectFrom("agent_tasks")
    .select("machine_id")
    .where("transfer_id", "=", transferId)
    .where(sql<boolean>`action ->> 'type' = any(${side === "send" ? ["send", "back_up"] : ["receive"]}::text[])`)
    .where("completed_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row?.machine_id;
}

/** An open transfer whose other half is a backup, with the host's half of it. */
export type BackupTransfer = { readonly backupId: InstanceBackupId; readonly action: TaskAction };

/** The backup at the other end of a transfer; undefined for a copy between hosts, and for one that is over. */
export async function findBackupTransfer(
  db: Reader,
  { transferId, now }: { readonly transferId: string; readonly now: Date },
): Promise<BackupTransfer | undefined> {
  const row = await db
    .selectFrom("agent_tasks")
    .select(["backup_id", "action"])
    .where("transfer_id", "=", transferId)
    .where("backup_id", "is not", null)
    .where("completed_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (row === undefined || row.backup_id === null) return undefined;
  return { backupId: row.backup_id, action: row.action as TaskAction };
}

/** Stores the end of a task that its server knows before the host tells it. */
export async function setEnd(
  tx: Tx,
  backupId: InstanceBackupId,
  { isSuccess, text }: { readonly isSuccess: boolean; readonly text: string },
): Promise<void> {
  await tx.db
    .updateTable("agent_tasks")
    .set({ completed_at: tx.now, is_success: isSuccess, result: storable(text) })
    .where("backup_id", "=", backupId)
    .where(sql<boolean>`action ->> 'type' = 'back_up'`)
    .where("completed_at", "is", null)
    .execute();
}

/** The progress of tasks by their ids; tasks that were deleted are missing. */
export async function listProgress(
  db: Reader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly text: string; readonly copiedBytes: bigint }>> {
  const rows = await db
    .selectFrom("agent_tasks")
    .select(["id", "progress", "copied_bytes"])
    .where("id", "=", sql<string>`any(${ids}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, { text: row.progress, copiedBytes: row.copied_bytes }]));
}

/**
 * Marks a user's unfinished tasks whose actions have these members as cancelled, both halves of copies between hosts;
 * returns their machines.
 */
export async function cancelTasksWith(
  tx: Tx,
  userId: UserId,
  members: Readonly<Record<string, unknown>>,
): Promise<readonly MachineId[]> {
  const sought = JSON.stringify(members);
  const rows = await tx.db
    .updateTable("agent_tasks")
    .set({ cancelled_at: tx.now })
    .where("user_id", "=", userId)
    .where("completed_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("expires_at", ">", tx.now)
    .where(sql<boolean>`action @> ${sought}::jsonb`)
    .returning("machine_id")
    .execute();
  return rows.map((row) => row.machine_id);
}

/** Copies and snapshots of these instances that run or ended just now, newest first. */
export async function listLongTasks(
  db: Reader,
  instanceIds: readonly InstanceId[],
  now: Date,
): Promise<ReadonlyMap<InstanceId, readonly LongTask[]>> {
  const { rows } = await sql<LongTaskRow>`
    select instance_id, action, backup_id, cancelled_at, completed_at, is_success,
      case when completed_at is null then progress else left(result, 1024) end as text
    from agent_tasks
    where instance_id = any(${instanceIds}::integer[])
      and (result_sha256 is null or action ->> 'type' = 'cloud_copy') and expires_at > ${now}::timestamptz
    order by number desc
  `.execute(db);
  return Map.groupBy(rows.map(toLongTask), ({ instanceId }) => instanceId);
}

type LongTaskRow = {
  readonly instance_id: InstanceId;
  readonly action: unknown;
  readonly backup_id: InstanceBackupId | null;
  readonly cancelled_at: Date | null;
  readonly completed_at: Date | null;
  readonly is_success: boolean | null;
  readonly text: string;
};

function toLongTask(row: LongTaskRow): LongTask & { readonly instanceId: InstanceId } {
  return {
    instanceId: row.instance_id,
    action: row.action as LongTask["action"],
    isFromBackup: row.backup_id !== null,
    cancelledAt: row.cancelled_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
    isSuccess: row.is_success ?? false,
    text: row.text,
  };
}

/** Deletes tasks whose time is over, answered or not; returns their number. */
export async function deleteExpiredTasks(tx: Tx, limit: number): Promise<number> {
  const expired = tx.db
    .selectFrom("agent_tasks")
    .select("id")
    .where("expires_at", "<=", tx.now)
    .orderBy("expires_at")
    .limit(limit)
    .forUpdate()
    .skipLocked();
  const result = await tx.db.deleteFrom("agent_tasks").where("id", "in", expired).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** The number of requests to hosts that have no answer yet, and the time of the oldest. */
export async function readTaskQueue(
  db: Reader,
): Promise<{ readonly openCount: number; readonly oldestAt: Date | undefined }> {
  const { rows } = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::integer as count, min(created_at) as oldest from agent_tasks where completed_at is null
  `.execute(db);
  return { openCount: rows[0]?.count ?? 0, oldestAt: rows[0]?.oldest ?? undefined };
}
