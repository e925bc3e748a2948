import { sql } from "kysely";
import {
  asId,
  type DeploymentFileId,
  type DeploymentId,
  type DeploymentVersionId,
  type UserId,
} from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Code } from "./deployment.ts";
import type { EncryptedContainer } from "./encrypted-container.ts";

/** A version with its container as it is stored. */
export type StoredVersion = Code &
  EncryptedContainer & {
    readonly id: DeploymentVersionId;
    readonly deploymentId: DeploymentId;
    readonly label: string;
    readonly workerGeneration: number | undefined;
    readonly createdAt: Date;
    /** When it last became the one that workers run; undefined for one that never did. */
    readonly lastUsedAt: Date | undefined;
    /** True if all of its code is there. */
    readonly isComplete: boolean;
  };

export async function insertVersion(
  tx: Tx,
  version: Pick<
    StoredVersion,
    "deploymentId" | "fileHash" | "sizeBytes" | "label" | "image" | "encryptedEnv" | "storageGb" | "encryptedLogin"
  >,
): Promise<DeploymentVersionId> {
  const row = await tx.db
    .insertInto("deployment_versions")
    .values({
      deployment_id: version.deploymentId,
      file_hash: version.fileHash,
      size_bytes: version.sizeBytes,
      label: version.label,
      image: version.image,
      env: version.encryptedEnv,
      storage_gb: version.storageGb,
      sealed_login: version.encryptedLogin,
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateLabel(tx: Tx, id: DeploymentVersionId, label: string): Promise<void> {
  await tx.db.updateTable("deployment_versions").set({ label }).where("id", "=", id).execute();
}

/** Records that workers run a version from now on, from this generation of their group. */
export async function markUsed(tx: Tx, id: DeploymentVersionId, generation: number): Promise<void> {
  await tx.db
    .updateTable("deployment_versions")
    .set({ worker_generation: generation, last_used_at: tx.now })
    .where("id", "=", id)
    .execute();
}

export async function findVersion(db: Reader, id: DeploymentVersionId): Promise<StoredVersion | undefined> {
  const row = await selectVersions(db).where("version.id", "=", id).executeTakeFirst();
  return row && toVersion(row);
}

/** Versions of a deployment, newest first. */
export async function listVersions(db: Reader, deploymentId: DeploymentId): Promise<readonly StoredVersion[]> {
  const rows = await selectVersions(db)
    .where("version.deployment_id", "=", deploymentId)
    .orderBy("version.id", "desc")
    .execute();
  return rows.map(toVersion);
}

/** Deletes versions, and the code that no version has any more. */
export async function deleteVersions(
  tx: Tx,
  deploymentId: DeploymentId,
  ids: readonly DeploymentVersionId[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .deleteFrom("deployment_versions")
    .where("id", "in", [...ids])
    .execute();
  await tx.db
    .deleteFrom("deployment_files")
    .where("deployment_id", "=", deploymentId)
    .where("file_hash", "not in", (eb) =>
      eb.selectFrom("deployment_versions").select("file_hash").where("deployment_id", "=", deploymentId),
    )
    .execute();
}

/** The bytes of a user's code that is kept or announced, each file counted once. */
export async function sumCodeBytesOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom((eb) =>
      eb
        .selectFrom("deployment_versions as version")
        .innerJoin("deployments", "deployments.id", "version.deployment_id")
        .select(["version.deployment_id", "version.file_hash", "version.size_bytes"])
        .distinct()
        .where("deployments.user_id", "=", userId)
        .as("code"),
    )
    .select(sql<number>`coalesce(sum(code.size_bytes), 0)::double precision`.as("size_bytes"))
    .executeTakeFirstOrThrow();
  return row.size_bytes;
}

/** Records the size of the code with this hash, in all versions that have it. */
export async function setCodeSize(
  tx: Tx,
  { deploymentId, fileHash, sizeBytes }: Pick<StoredVersion, "deploymentId" | "fileHash" | "sizeBytes">,
): Promise<void> {
  await tx.db
    .updateTable("deployment_versions")
    .set({ size_bytes: sizeBytes })
    .where("deployment_id", "=", deploymentId)
    .where("file_hash", "=", fileHash)
    .where("size_bytes", "<>", sizeBytes)
    .execute();
}

export type StoredFile = { readonly id: DeploymentFileId; readonly sizeBytes: number };

/** The code with this hash, once all of it is there. */
export async function findCompleteFile(
  db: Reader,
  { deploymentId, fileHash }: { readonly deploymentId: DeploymentId; readonly fileHash: string },
): Promise<StoredFile | undefined> {
  const row = await db
    .selectFrom("deployment_files")
    .select(["id", "size_bytes"])
    .where("deployment_id", "=", deploymentId)
    .where("file_hash", "=", fileHash)
    .where("completed_at", "is not", null)
    .executeTakeFirst();
  return row && { id: row.id, sizeBytes: row.size_bytes };
}

export async function countUploads(db: Reader, deploymentId: DeploymentId): Promise<number> {
  const row = await db
    .selectFrom("deployment_files")
    .select(sql<number>`count(*)::integer`.as("upload_count"))
    .where("deployment_id", "=", deploymentId)
    .where("completed_at", "is", null)
    .executeTakeFirstOrThrow();
  return row.upload_count;
}

export async function insertFile(
  tx: Tx,
  { deploymentId, fileHash, sizeBytes }: Pick<StoredVersion, "deploymentId" | "fileHash" | "sizeBytes">,
): Promise<DeploymentFileId> {
  const row = await tx.db
    .insertInto("deployment_files")
    .values({ deployment_id: deploymentId, file_hash: fileHash, size_bytes: sizeBytes, created_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Marks the file as complete; false if it is gone, as its deployment may be deleted during the upload. */
export async function completeFile(tx: Tx, id: DeploymentFileId): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable("deployment_files")
    .set({ completed_at: tx.now })
    .where("id", "=", id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteFile(tx: Tx, id: DeploymentFileId): Promise<void> {
  await tx.db.deleteFrom("deployment_files").where("id", "=", id).execute();
}

/** Deletes the remains of uploads that began before then and broke off with their server. */
export async function deleteBrokenUploads(tx: Tx, before: Date): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom("deployment_files")
    .where("completed_at", "is", null)
    .where("created_at", "<", before)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Stores a piece of a file; nothing is written if the file was deleted meanwhile. */
export async function insertPiece(
  tx: Tx,
  { fileId, position, bytes }: { readonly fileId: DeploymentFileId; readonly position: number; readonly bytes: Buffer },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto("deployment_file_pieces")
    .columns(["file_id", "position", "bytes"])
    .expression((eb) =>
      eb
        .selectFrom("deployment_files")
        .select(["id", sql<number>`${position}::integer`.as("position"), sql<Buffer>`${bytes}::bytea`.as("bytes")])
        .where("id", "=", fileId)
        .forKeyShare(),
    )
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function findPiece(db: Reader, fileId: DeploymentFileId, position: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom("deployment_file_pieces")
    .select("bytes")
    .where("file_id", "=", fileId)
    .where("position", "=", position)
    .executeTakeFirst();
  return row?.bytes;
}

function selectVersions(db: Reader) {
  return db
    .selectFrom("deployment_versions as version")
    .select([
      "version.id",
      "version.deployment_id",
      "version.file_hash",
      "version.size_bytes",
      "version.label",
      "version.image",
      "version.env",
      "version.storage_gb",
      "version.sealed_login",
      "version.worker_generation",
      "version.created_at",
      "version.last_used_at",
    ])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom("deployment_files as file")
            .select("file.id")
            .whereRef("file.deployment_id", "=", "version.deployment_id")
            .whereRef("file.file_hash", "=", "version.file_hash")
            .where("file.completed_at", "is not", null),
        )
        .as("is_complete"),
    );
}

type VersionRow = Awaited<ReturnType<ReturnType<typeof selectVersions>["executeTakeFirstOrThrow"]>>;

function toVersion(row: VersionRow): StoredVersion {
  return {
    id: asId<DeploymentVersionId>(row.id),
    deploymentId: row.deployment_id,
    fileHash: row.file_hash,
    sizeBytes: row.size_bytes,
    label: row.label,
    image: row.image,
    encryptedEnv: row.env,
    storageGb: row.storage_gb,
    encryptedLogin: row.sealed_login,
    workerGeneration: row.worker_generation ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    isComplete: Boolean(row.is_complete),
  };
}
