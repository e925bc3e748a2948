import { sql } from "kysely";
import type { VolumeId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { CloneState } from "./rules/clone.ts";

export type Clone = CloneState & {
  readonly volumeId: VolumeId;
  readonly sourceId: VolumeId;
  readonly taskId: string;
};

export async function insertClone(
  tx: Tx,
  clone: Pick<Clone, "volumeId" | "sourceId" | "taskId" | "expectedBytes" | "expiresAt">,
): Promise<void> {
  await tx.db
    .insertInto("volume_clones")
    .values({
      volume_id: clone.volumeId,
      source_id: clone.sourceId,
      task_id: clone.taskId,
      expected_bytes: clone.expectedBytes,
      created_at: tx.now,
      expires_at: clone.expiresAt,
    })
    .execute();
}

/** States of those of these volumes that are not complete. */
export async function listClones(db: Reader, volumeIds: readonly VolumeId[]): Promise<ReadonlyMap<VolumeId, Clone>> {
  const rows = await selectClones(db)
    .where("volume_id", "=", sql<VolumeId>`any(${volumeIds}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.volume_id, toClone(row)]));
}

/** Volumes that are being filled from this one. */
export async function listClonesFrom(db: Reader, sourceId: VolumeId): Promise<readonly Clone[]> {
  const rows = await selectClones(db).where("source_id", "=", sourceId).orderBy("volume_id").execute();
  return rows.map(toClone);
}

/** Notes that the volumes which these tasks filled are complete, and returns them. */
export async function deleteClonesOf(tx: Tx, taskIds: readonly string[]): Promise<readonly VolumeId[]> {
  const rows = await tx.db
    .deleteFrom("volume_clones")
    .where("task_id", "=", sql<string>`any(${taskIds}::text[])`)
    .returning("volume_id")
    .execute();
  return rows.map((row) => row.volume_id);
}

export async function failCloneOf(tx: Tx, taskId: string, problem: string): Promise<void> {
  await tx.db
    .updateTable("volume_clones")
    .set({ failed_at: tx.now, problem })
    .where("task_id", "=", taskId)
    .where("failed_at", "is", null)
    .execute();
}

function selectClones(db: Reader) {
  return db
    .selectFrom("volume_clones")
    .select(["volume_id", "source_id", "task_id", "expected_bytes", "expires_at", "failed_at", "problem"]);
}

type CloneRow = Awaited<ReturnType<ReturnType<typeof selectClones>["executeTakeFirstOrThrow"]>>;

function toClone(row: CloneRow): Clone {
  return {
    volumeId: row.volume_id,
    sourceId: row.source_id,
    taskId: row.task_id,
    expectedBytes: row.expected_bytes,
    expiresAt: row.expires_at,
    failedAt: row.failed_at ?? undefined,
    problem: row.problem,
  };
}
