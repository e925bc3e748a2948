import { sql } from "kysely";
import type { Tx } from "../../../db/transaction.ts";

/** A mail that this process is to send now. */
export type ClaimedMail = {
  readonly id: bigint;
  readonly to: string;
  readonly subject: string;
  readonly encryptedText: string;
  readonly attempt: number;
  readonly createdAt: Date;
};

export async function insertDirectMail(
  tx: Tx,
  mail: Pick<ClaimedMail, "to" | "subject" | "encryptedText"> & { readonly expiresAt: Date },
): Promise<void> {
  await tx.db
    .insertInto("direct_mails")
    .values({
      to_address: mail.to,
      subject: mail.subject,
      sealed_text: mail.encryptedText,
      due_at: tx.now,
      created_at: tx.now,
      expires_at: mail.expiresAt,
    })
    .execute();
}

/** Claims mails that are due; no other process tries them before `claimedUntil`. */
export async function claimDirectMails(tx: Tx, limit: number, claimedUntil: Date): Promise<readonly ClaimedMail[]> {
  await tx.db.deleteFrom("direct_mails").where("expires_at", "<=", tx.now).execute();
  const { rows } = await sql<ClaimRow>`
    update direct_mails m set attempt_count = m.attempt_count + 1, due_at = ${claimedUntil}::timestamptz
    from (
      select id from direct_mails where due_at <= ${tx.now}::timestamptz
      order by due_at, id limit ${limit}::integer for update skip locked
    ) due
    where m.id = due.id
    returning m.id, m.to_address, m.subject, m.sealed_text, m.attempt_count, m.created_at
  `.execute(tx.db);
  return rows.map((row) => ({
    id: row.id,
    to: row.to_address,
    subject: row.subject,
    encryptedText: row.sealed_text,
    attempt: row.attempt_count,
    createdAt: row.created_at,
  }));
}

type ClaimRow = {
  readonly id: bigint;
  readonly to_address: string;
  readonly subject: string;
  readonly sealed_text: string;
  readonly attempt_count: number;
  readonly created_at: Date;
};

/**
 * Sets the time of the next attempt, or deletes a finished mail. Does nothing when another process has claimed it
 * meanwhile.
 */
export async function finishDirectMail(
  tx: Tx,
  { id, attempt }: Pick<ClaimedMail, "id" | "attempt">,
  dueAt: Date | undefined,
): Promise<void> {
  if (dueAt === undefined) {
    await tx.db.deleteFrom("direct_mails").where("id", "=", id).where("attempt_count", "=", attempt).execute();
    return;
  }
  await tx.db
    .updateTable("direct_mails")
    .set({ due_at: dueAt })
    .where("id", "=", id)
    .where("attempt_count", "=", attempt)
    .execute();
}
