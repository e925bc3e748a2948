import { sql } from "kysely";
import type { TemplateId, UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import { readStoredContent } from "./rules/content.ts";
import { encryptContent } from "./encrypted-content.ts";

type ClearRow = {
  readonly id: TemplateId;
  readonly creator_id: UserId;
  readonly hash_id: string;
  readonly content: unknown;
};

/**
 * Encrypts a few private templates and versions that older versions of the server stored in clear; returns their
 * number. Their hashes stay.
 */
export async function encryptEarlierTemplates(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows: templates } = await sql<ClearRow>`
    select id, creator_id, hash_id, content from templates
    where content ? 'env' and content @> '{"private": true}'
    order by id limit ${limit} for no key update skip locked
  `.execute(tx.db);
  for (const row of templates) {
    const stored = encryptedTextOf(row, encryption);
    await tx.db.updateTable("templates").set({ content: stored }).where("id", "=", row.id).execute();
  }
  const { rows: versions } = await sql<ClearRow>`
    select version.template_id as id, template.creator_id, version.hash_id, version.content
    from template_versions as version join templates as template on template.id = version.template_id
    where version.content ? 'env' and version.content @> '{"private": true}'
    order by version.template_id limit ${limit} for no key update of version skip locked
  `.execute(tx.db);
  for (const row of versions) {
    await tx.db
      .updateTable("template_versions")
      .set({ content: encryptedTextOf(row, encryption) })
      .where("template_id", "=", row.id)
      .where("hash_id", "=", row.hash_id)
      .execute();
  }
  return templates.length + versions.length;
}

function encryptedTextOf(row: ClearRow, encryption: Encryption): string {
  return JSON.stringify(encryptContent(readStoredContent(row.content), row, encryption));
}
