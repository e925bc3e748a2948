import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** A method that needs setting up; mail is none. */
export type StoredKind = "totp" | "sms";

export type TfaMethod = {
  readonly id: TfaMethodId;
  readonly userId: UserId;
  readonly kind: StoredKind;
  readonly label: string;
  /** The secret of an app, or the phone number. */
  readonly encryptedSecret: string;
  readonly isPrimary: boolean;
  readonly lastStep: number | undefined;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | undefined;
};

/** The methods of an account, oldest first. */
export async function listMethods(db: Reader, userId: UserId): Promise<readonly TfaMethod[]> {
  const rows = await db
    .selectFrom("tfa_methods")
    .select([
      "id",
      "user_id",
      "method",
      "label",
      "sealed_secret",
      "is_primary",
      "last_step",
      "created_at",
      "last_used_at",
    ])
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    kind: row.method === "sms" ? "sms" : "totp",
    label: row.label,
    encryptedSecret: row.sealed_secret,
    isPrimary: row.is_primary,
    lastStep: row.last_step === null ? undefined : Number(row.last_step),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  }));
}

export async function insertMethod(
  tx: Tx,
  method: Pick<TfaMethod, "userId" | "kind" | "label" | "encryptedSecret" | "isPrimary" | "lastStep">,
): Promise<TfaMethodId> {
  const row = await tx.db
    .insertInto("tfa_methods")
    .values({
      user_id: method.userId,
      method: method.kind,
      label: method.label,
      sealed_secret: method.encryptedSecret,
      is_primary: method.isPrimary,
      last_step: method.lastStep === undefined ? null : BigInt(method.lastStep),
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Keeps that a method was used, and the step of an app's code: no code of that step is taken again. */
export async function noteUse(tx: Tx, id: TfaMethodId, step?: number): Promise<void> {
  await tx.db
    .updateTable("tfa_methods")
    .set({ last_used_at: tx.now, ...(step === undefined ? {} : { last_step: BigInt(step) }) })
    .where("id", "=", id)
    .execute();
}

export async function setLabel(tx: Tx, id: TfaMethodId, label: string): Promise<void> {
  await tx.db.updateTable("tfa_methods").set({ label }).where("id", "=", id).execute();
}

/** Makes one live method of an account the primary one. */
export async function setPrimary(tx: Tx, userId: UserId, id: TfaMethodId): Promise<void> {
  const live = tx.db.updateTable("tfa_methods").where("user_id", "=", userId).where("deleted_at", "is", null);
  await live.set({ is_primary: false }).where("id", "<>", id).where("is_primary", "=", true).execute();
  await live.set({ is_primary: true }).where("id", "=", id).execute();
}

export async function deleteMethod(tx: Tx, id: TfaMethodId): Promise<void> {
  await tx.db.updateTable("tfa_methods").set({ deleted_at: tx.now, is_primary: false }).where("id", "=", id).execute();
}
