import type { PasskeyId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type Passkey = {
  readonly id: PasskeyId;
  readonly userId: UserId;
  readonly credentialId: Buffer;
  /** In COSE form. */
  readonly publicKey: Buffer;
  readonly userHandle: Buffer;
  readonly label: string;
  readonly transports: readonly string[];
  readonly signCount: number;
  readonly isSynced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | undefined;
};

/** The passkeys of an account, oldest first. */
export async function listPasskeys(db: Reader, userId: UserId): Promise<readonly Passkey[]> {
  const rows = await livePasskeys(db).where("user_id", "=", userId).orderBy("id").execute();
  return rows.map(toPasskey);
}

export async function findPasskey(db: Reader, credentialId: Buffer): Promise<Passkey | undefined> {
  const row = await livePasskeys(db).where("credential_id", "=", credentialId).executeTakeFirst();
  return row && toPasskey(row);
}

/** Inserts a passkey; undefined when an account has this one already. */
export async function insertPasskey(
  tx: Tx,
  passkey: Omit<Passkey, "id" | "createdAt" | "lastUsedAt">,
): Promise<PasskeyId | undefined> {
  const row = await tx.db
    .insertInto("passkeys")
    .values({
      user_id: passkey.userId,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      user_handle: passkey.userHandle,
      label: passkey.label,
      transports: [...passkey.transports],
      sign_count: BigInt(passkey.signCount),
      is_synced: passkey.isSynced,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.column("credential_id").where("deleted_at", "is", null).doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Keeps that a passkey signed, and the count that it said. */
export async function notePasskeyUse(tx: Tx, id: PasskeyId, signCount: number): Promise<void> {
  await tx.db
    .updateTable("passkeys")
    .set({ last_used_at: tx.now, sign_count: BigInt(signCount) })
    .where("id", "=", id)
    .execute();
}

/** Renames a passkey of an account; false when the account has none of this id. */
export async function setPasskeyLabel(tx: Tx, userId: UserId, id: PasskeyId, label: string): Promise<boolean> {
  const result = await tx.db
    .updateTable("passkeys")
    .set({ label })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function deletePasskey(tx: Tx, id: PasskeyId): Promise<void> {
  await tx.db.updateTable("passkeys").set({ deleted_at: tx.now }).where("id", "=", id).execute();
}

function livePasskeys(db: Reader) {
  return db
    .selectFrom("passkeys")
    .select([
      "id",
      "user_id",
      "credential_id",
      "public_key",
      "user_handle",
      "label",
      "transports",
      "sign_count",
      "is_synced",
      "created_at",
      "last_used_at",
    ])
    .where("deleted_at", "is", null);
}

type PasskeyRow = Awaited<ReturnType<ReturnType<typeof livePasskeys>["executeTakeFirstOrThrow"]>>;

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    userHandle: row.user_handle,
    label: row.label,
    transports: row.transports,
    signCount: Number(row.sign_count),
    isSynced: row.is_synced,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}
