import { sql, type RawBuilder } from "kysely";
import type { TemplateId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** True in SQL for the template of this id when it came with the server. */
export function isShippedSql(id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select from shipped_templates as shipped where shipped.template_id = ${id})`;
}

export type Shipped = {
  readonly key: string;
  readonly revision: number;
  /** The hash of what the server last wrote. */
  readonly hashId: string;
  readonly template: {
    readonly id: TemplateId;
    readonly creator_id: UserId;
    readonly hash_id: string;
    readonly isDeleted: boolean;
  };
};

/** Locks the templates that came with servers so far, deleted ones included. */
export async function lockShipped(tx: Tx): Promise<ReadonlyMap<string, Shipped>> {
  const rows = await tx.db
    .selectFrom("shipped_templates as shipped")
    .innerJoin("templates as template", "template.id", "shipped.template_id")
    .select(["shipped.key", "shipped.revision", "shipped.hash_id as shipped_hash"])
    .select(["template.id", "template.creator_id", "template.hash_id", "template.deleted_at"])
    .orderBy("template.id")
    .forUpdate()
    .execute();
  return new Map(
    rows.map(({ key, revision, shipped_hash: hashId, deleted_at: deletedAt, ...template }) => [
      key,
      { key, revision, hashId, template: { ...template, isDeleted: deletedAt !== null } },
    ]),
  );
}

type Entry = {
  readonly key: string;
  readonly templateId: TemplateId;
  readonly hashId: string;
  readonly revision: number;
};

/** Notes what the server wrote into a template. */
export async function noteShipped(tx: Tx, { key, templateId, hashId, revision }: Entry): Promise<void> {
  await tx.db
    .insertInto("shipped_templates")
    .values({ key, template_id: templateId, hash_id: hashId, revision })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ hash_id: hashId, revision }))
    .execute();
}

/** Puts a template among the recommended ones. */
export async function recommend(tx: Tx, id: TemplateId): Promise<void> {
  await tx.db.updateTable("templates").set({ is_recommended: true }).where("id", "=", id).execute();
}
