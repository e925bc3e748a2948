import { sql } from "kysely";
import type { Place, TaskAction } from "../../../../protocol/index.ts";
import type { InstanceId, MachineId, UserId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { NOTE_MS, type LongTask, type NewTask } from "./task.ts";

/** Told to every process whenever a machine has something new to do, or something to leave off. */
export const TASKS_CHANNEL = "tasks_changed";

/** Sends the machine's id at commit. */
export async function notifyTasks(tx: Tx, machineId: MachineId): Promise<void> {
  await sql`select pg_notify(${TASKS_CHANNEL}, ${String(machineId)})`.execute(tx.db);
}

export type StoredTask = NewTask & {
  readonly id: string;
  readonly sealedAuth: string | undefined;
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
      sealed_auth: task.sealedAuth ?? null,
      result_sha256: task.resultSha256 ?? null,
      created_at: tx.now,
      expires_at: task.expiresAt,
    })
    .execute();
}

/** How many of a user's tasks no host has answered yet. */
export async function countOpenTasks(db: Reader, userId: UserId, now: Date): Promise<number> {
  const row = await db
    .selectFrom("agent_tasks")
    .select(sql<number>`count(*)::integer`.as("open"))
    .where("user_id", "=", userId)
    .where("completed_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  return row.open;
}

/** Forgets what a user had answered, but for the newest `keep`. */
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
  readonly sealedAuth: string | undefined;
  readonly isCancelled: boolean;
};

const TASKS_PER_MACHINE_MAX = 1000;

/** What a machine has not answered yet, oldest first. */
export async function listOpenTasks(db: Reader, machineId: MachineId, now: Date): Promise<readonly OpenTask[]> {
  const rows = await db
    .selectFrom("agent_tasks")
    .select(["id", "action", "sealed_auth", "cancelled_at"])
    .where("machine_id", "=", machineId)
    .where("completed_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("number")
    .limit(TASKS_PER_MACHINE_MAX)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    action: row.action as TaskAction,
    sealedAuth: row.sealed_auth ?? undefined,
    isCancelled: row.cancelled_at !== null,
  }));
}

export type TaskOf = { readonly machineId: MachineId; readonly taskId: string };

/** Only the machine that the task is for may speak of it, and only until it has answered. */
export async function setProgress(tx: Tx, { machineId, taskId }: TaskOf, text: string): Promise<void> {
  await tx.db
    .updateTable("agent_tasks")
    .set({ progress: storable(text) })
    .where("id", "=", taskId)
    .where("machine_id", "=", machineId)
    .where("completed_at", "is", null)
    .execute();
}

/** The first answer counts: one that comes again changes nothing. What nobody can fetch is kept for its note only. */
export async function setResult(
  tx: Tx,
  { machineId, taskId }: TaskOf,
  { isSuccess, text }: { readonly isSuccess: boolean; readonly text: string },
): Promise<void> {
  const noteEndAt = new Date(tx.now.getTime() + NOTE_MS);
  await tx.db
    .updateTable("agent_tasks")
    .set((eb) => ({
      completed_at: tx.now,
      is_success: isSuccess,
      result: storable(text),
      sealed_auth: null,
      expires_at: sql<Date>`case when result_sha256 is null
        then least(${eb.ref("expires_at")}, ${noteEndAt}::timestamptz) else ${eb.ref("expires_at")} end`,
    }))
    .where("id", "=", taskId)
    .where("machine_id", "=", machineId)
    .where("completed_at", "is", null)
    .execute();
}

/** Hosts send what containers print: text of the database holds no NUL. */
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

/** Marks a user's unfinished copies to this place; the machines that carry them out. */
export async function cancelCopiesTo(
  tx: Tx,
  userId: UserId,
  { kind, id }: Pick<Place, "kind" | "id">,
): Promise<readonly MachineId[]> {
  const sought = JSON.stringify({ type: "copy", destination: { kind, id } });
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

/** Copies and snapshots of these instances that go on or ended just now, the newest first. */
export async function listLongTasks(
  db: Reader,
  instanceIds: readonly InstanceId[],
  now: Date,
): Promise<ReadonlyMap<InstanceId, readonly LongTask[]>> {
  const { rows } = await sql<LongTaskRow>`
    select instance_id, action, cancelled_at, completed_at, is_success,
      case when completed_at is null then progress else left(result, 1024) end as text
    from agent_tasks
    where instance_id = any(${instanceIds}::integer[]) and result_sha256 is null and expires_at > ${now}::timestamptz
    order by number desc
  `.execute(db);
  return Map.groupBy(rows.map(toLongTask), ({ instanceId }) => instanceId);
}

type LongTaskRow = {
  readonly instance_id: InstanceId;
  readonly action: unknown;
  readonly cancelled_at: Date | null;
  readonly completed_at: Date | null;
  readonly is_success: boolean | null;
  readonly text: string;
};

function toLongTask(row: LongTaskRow): LongTask & { readonly instanceId: InstanceId } {
  return {
    instanceId: row.instance_id,
    action: row.action as LongTask["action"],
    cancelledAt: row.cancelled_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
    isSuccess: row.is_success ?? false,
    text: row.text,
  };
}

/** Forgets tasks whose time is over, answered or not; returns how many. */
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
