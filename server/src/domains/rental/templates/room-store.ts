// Counts of rows that a limit bounds.
import type { TemplateId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** Counts the live templates that a user has made. */
export async function countTemplates(db: Reader, creatorId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("templates")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("creator_id", "=", creatorId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Counts the versions of a template that the caller has locked, the present one included. */
export async function countVersions(tx: Tx, id: TemplateId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("template_versions")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("template_id", "=", id)
    .executeTakeFirstOrThrow();
  return Number(count);
}
