import { sql, type RawBuilder, type Selectable } from "kysely";
import {
  asId,
  type InstanceBackupId,
  type InstanceId,
  type MachineId,
  type UserId,
  type VolumeId,
} from "../../../base/ids.ts";
import type { InstanceBackupsTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Backup, BackupStatus, Contract, NewBackup } from "./backup.ts";

const COLUMNS = [
  "id",
  "kind",
  "contract_id",
  "user_id",
  "machine_id",
  "cause",
  "status",
  "problem",
  "attempt",
  "size_bytes",
  "created_at",
  "made_at",
] as const;

type Row = Pick<Selectable<InstanceBackupsTable>, (typeof COLUMNS)[number]>;

/** Inserts backups that are to be made; one that is under way, or was made at this end, is not inserted again. */
export async function insertBackups(tx: Tx, backups: readonly NewBackup[]): Promise<number> {
  if (backups.length === 0) return 0;
  const rows = await tx.db
    .insertInto("instance_backups")
    .values(
      backups.map(({ contract, userId, machineId, cause }) => ({
        kind: contract.kind,
        contract_id: contract.id,
        user_id: userId,
        machine_id: machineId,
        cause,
        status: "pending",
        created_at: tx.now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .execute();
  return rows.length;
}

/** The most attempts to back up one contract at its end, and the time of the last one that keeps another one away. */
export type EndAttempts = { readonly most: number; readonly since: Date };

/**
 * SQL that is true for a row of contracts of this kind of which a backup was made at the end, or is under way, and for one
 * whose attempts failed too often or just now.
 */
export function wasBackedUpAtEnd(
  kind: Contract["kind"],
  contractId: string,
  { most, since }: EndAttempts,
): RawBuilder<boolean> {
  return sql<boolean>`(
    select coalesce(bool_or(made.status <> 'error' or made.created_at > ${since}::timestamptz), false)
      or count(*) >= ${most}::integer
    from instance_backups as made
    where made.kind = ${sql.lit(kind)} and made.contract_id = ${sql.ref(contractId)} and made.cause = 'contract_end'
  )`;
}

/** Backups that no host was asked for yet, oldest first and locked; those that others have locked are left out. */
export async function lockQueued(tx: Tx, limit: number): Promise<readonly Backup[]> {
  const rows = await tx.db
    .selectFrom("instance_backups")
    .select(COLUMNS)
    .where("status", "=", "pending")
    .where("task_id", "is", null)
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(toBackup);
}

/** How many backups each of these machines makes at the moment. */
export async function countStarted(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, number>> {
  const rows = await db
    .selectFrom("instance_backups")
    .select(["machine_id", sql<number>`count(*)::integer`.as("started")])
    .where("status", "=", "pending")
    .where("task_id", "is not", null)
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .groupBy("machine_id")
    .execute();
  return new Map(rows.map((row) => [row.machine_id, row.started]));
}

export async function setTask(tx: Tx, id: InstanceBackupId, taskId: string): Promise<void> {
  await tx.db.updateTable("instance_backups").set({ task_id: taskId }).where("id", "=", id).execute();
}

/** Counts one more connection on which the host begins to send; undefined when the backup is not wanted any more. */
export async function beginAttempt(tx: Tx, id: InstanceBackupId): Promise<Backup | undefined> {
  const row = await tx.db
    .updateTable("instance_backups")
    .set({ attempt: sql<number>`attempt + 1` })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toBackup(row);
}

/** True when the backup was stored: it is wanted, and no newer connection has begun. */
export async function setSuccess(
  tx: Tx,
  { id, attempt, sizeBytes }: Pick<Backup, "id" | "attempt"> & { readonly sizeBytes: number },
): Promise<boolean> {
  const row = await tx.db
    .updateTable("instance_backups")
    .set({ status: "success", made_at: tx.now, size_bytes: BigInt(sizeBytes) })
    .where("id", "=", id)
    .where("attempt", "=", attempt)
    .where("status", "=", "pending")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives a backup up; one that is over stays as it is. */
export async function setProblem(tx: Tx, id: InstanceBackupId, problem: string): Promise<void> {
  await tx.db
    .updateTable("instance_backups")
    .set({ status: "error", problem })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}

export async function setProblemOfTask(tx: Tx, taskId: string, problem: string): Promise<void> {
  await tx.db
    .updateTable("instance_backups")
    .set({ status: "error", problem })
    .where("task_id", "=", taskId)
    .where("status", "=", "pending")
    .execute();
}

/** Gives up backups that were wanted before this time and have not come; returns how many. */
export async function setProblemOfLate(tx: Tx, before: Date, problem: string): Promise<number> {
  const result = await tx.db
    .updateTable("instance_backups")
    .set({ status: "error", problem })
    .where("status", "=", "pending")
    .where("created_at", "<=", before)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** A user's backups of one contract id, or of all, newest first, without those whose files were deleted. */
export async function listBackups(
  db: Reader,
  userId: UserId,
  { contractId, limit }: { readonly contractId: number | undefined; readonly limit: number },
): Promise<readonly Backup[]> {
  const rows = await db
    .selectFrom("instance_backups")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("file_deleted_at", "is", null)
    .$if(contractId !== undefined, (query) => query.where("contract_id", "=", contractId ?? 0))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toBackup);
}

/** The newest whole backup of each kind of contract that has this id and is the user's. */
export async function listNewest(db: Reader, userId: UserId, contractId: number): Promise<readonly Backup[]> {
  const rows = await db
    .selectFrom("instance_backups")
    .select(COLUMNS)
    .distinctOn("kind")
    .where("user_id", "=", userId)
    .where("contract_id", "=", contractId)
    .where("status", "=", "success")
    .where("file_deleted_at", "is", null)
    .orderBy("kind")
    .orderBy("id", "desc")
    .execute();
  return rows.map(toBackup);
}

/** A whole backup whose file is there; undefined once it was deleted. */
export async function findWhole(db: Reader, id: InstanceBackupId): Promise<Backup | undefined> {
  const row = await db
    .selectFrom("instance_backups")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("status", "=", "success")
    .where("file_deleted_at", "is", null)
    .executeTakeFirst();
  return row && toBackup(row);
}

/** Marks the files of backups that were made before this time as deleted; returns those backups. */
export async function markFilesDeleted(tx: Tx, before: Date, limit: number): Promise<readonly Backup[]> {
  const expired = tx.db
    .selectFrom("instance_backups")
    .select("id")
    .where("status", "=", "success")
    .where("file_deleted_at", "is", null)
    .where("made_at", "<=", before)
    .orderBy("made_at")
    .limit(limit)
    .forUpdate()
    .skipLocked();
  const rows = await tx.db
    .updateTable("instance_backups")
    .set({ file_deleted_at: tx.now })
    .where("id", "in", expired)
    .returning(COLUMNS)
    .execute();
  return rows.map(toBackup);
}

/** States of backups whose files are looked at; ids without a backup are missing. */
export async function listStands(
  db: Reader,
  ids: readonly InstanceBackupId[],
): Promise<
  ReadonlyMap<
    InstanceBackupId,
    { readonly status: BackupStatus; readonly attempt: number; readonly isFileDeleted: boolean }
  >
> {
  const rows = await db
    .selectFrom("instance_backups")
    .select(["id", "status", "attempt", "file_deleted_at"])
    .where("id", "=", sql<InstanceBackupId>`any(${ids}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      { status: row.status, attempt: row.attempt, isFileDeleted: row.file_deleted_at !== null },
    ]),
  );
}

function toBackup(row: Row): Backup {
  return {
    id: row.id,
    contract: contractOf(row.kind, row.contract_id),
    userId: row.user_id,
    machineId: row.machine_id,
    cause: row.cause,
    status: row.status,
    problem: row.problem,
    attempt: row.attempt,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at,
    madeAt: row.made_at,
  };
}

function contractOf(kind: Contract["kind"], id: number): Contract {
  return kind === "volume"
    ? { kind: "volume", id: asId<VolumeId>(id) }
    : { kind: "instance", id: asId<InstanceId>(id) };
}
