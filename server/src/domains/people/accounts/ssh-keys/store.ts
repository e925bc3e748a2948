import type { SshKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type SshKey = {
  readonly id: SshKeyId;
  readonly userId: UserId;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: Date;
};

/** The stored columns of a key: its line and its fingerprint. */
export type SshKeyText = { readonly line: string; readonly fingerprint: string };

/** The live keys of a user, oldest first. */
export async function listSshKeys(db: Reader, userId: UserId): Promise<readonly SshKey[]> {
  const rows = await ownKeys(db, userId).orderBy("id").execute();
  return rows.map(toSshKey);
}

export async function findSshKey(db: Reader, userId: UserId, id: SshKeyId): Promise<SshKey | undefined> {
  const row = await ownKeys(db, userId).where("id", "=", id).executeTakeFirst();
  return row && toSshKey(row);
}

export async function findSshKeyByFingerprint(
  db: Reader,
  userId: UserId,
  fingerprint: string,
): Promise<SshKey | undefined> {
  const row = await ownKeys(db, userId).where("fingerprint", "=", fingerprint).executeTakeFirst();
  return row && toSshKey(row);
}

/** Inserts a key. The caller holds the user's lock and has looked for the key. */
export async function insertSshKey(tx: Tx, userId: UserId, { line, fingerprint }: SshKeyText): Promise<SshKey> {
  const { id } = await tx.db
    .insertInto("ssh_keys")
    .values({ user_id: userId, public_key: line, fingerprint, created_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return { id, userId, publicKey: line, fingerprint, createdAt: tx.now };
}

/** Replaces a live key; copies in instances stay. The caller holds the user's lock. */
export async function updateSshKey(tx: Tx, id: SshKeyId, { line, fingerprint }: SshKeyText): Promise<void> {
  await tx.db.updateTable("ssh_keys").set({ public_key: line, fingerprint }).where("id", "=", id).execute();
}

/** Deletes a live key of the user; copies in instances stay. False when there is none. */
export async function deleteSshKey(tx: Tx, userId: UserId, id: SshKeyId): Promise<boolean> {
  const result = await tx.db
    .updateTable("ssh_keys")
    .set({ deleted_at: tx.now })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

function ownKeys(db: Reader, userId: UserId) {
  return db
    .selectFrom("ssh_keys")
    .select(["id", "user_id", "public_key", "fingerprint", "created_at"])
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null);
}

type SshKeyRow = Awaited<ReturnType<ReturnType<typeof ownKeys>["executeTakeFirstOrThrow"]>>;

function toSshKey(row: SshKeyRow): SshKey {
  return {
    id: row.id,
    userId: row.user_id,
    publicKey: row.public_key,
    fingerprint: row.fingerprint,
    createdAt: row.created_at,
  };
}
