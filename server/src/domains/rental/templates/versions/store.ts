import { sql } from "kysely";
import type { TemplateId, UserId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { decryptContent } from "../encrypted-content.ts";
import type { TemplateContent } from "../rules/content.ts";
import type { Version } from "../rules/version-changes.ts";

/** Owner and present hash of a live template of this user; undefined when there is none. */
export async function findOwn(db: Reader, userId: UserId, id: TemplateId): Promise<string | undefined> {
  const row = await db
    .selectFrom("templates")
    .select("hash_id")
    .where("id", "=", id)
    .where("creator_id", "=", userId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row?.hash_id;
}

type Page = { readonly limit: number; readonly after: { readonly madeAt: Date; readonly hashId: string } | undefined };

/** Versions of a template of this creator, the newest first. */
export async function listVersions(
  db: Reader,
  { id, creatorId }: { readonly id: TemplateId; readonly creatorId: UserId },
  { limit, after }: Page,
  encryption: Encryption,
): Promise<readonly Version[]> {
  const rows = await db
    .selectFrom("template_versions")
    .select(["hash_id", "content", "created_at"])
    .where("template_id", "=", id)
    .where(
      after === undefined
        ? sql<boolean>`true`
        : sql<boolean>`(created_at, hash_id) < (${after.madeAt}::timestamptz, ${after.hashId}::text)`,
    )
    .orderBy("created_at", "desc")
    .orderBy("hash_id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    hashId: row.hash_id,
    madeAt: row.created_at,
    content: decryptContent(row.content, { creator_id: creatorId, hash_id: row.hash_id }, encryption),
  }));
}

export type StoredVersion = {
  readonly creator_id: UserId;
  readonly hash_id: string;
  readonly docker_login_pass: string;
  readonly content: TemplateContent | undefined;
};

/** The version of a template of this creator that has this hash. */
export async function findVersion(
  db: Reader,
  { id, creatorId }: { readonly id: TemplateId; readonly creatorId: UserId },
  hashId: string,
  encryption: Encryption,
): Promise<StoredVersion | undefined> {
  const row = await db
    .selectFrom("template_versions")
    .select(["hash_id", "content", "docker_login_pass"])
    .where("template_id", "=", id)
    .where("hash_id", "=", hashId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const place = { creator_id: creatorId, hash_id: row.hash_id };
  return {
    ...place,
    docker_login_pass: row.docker_login_pass,
    content: decryptContent(row.content, place, encryption),
  };
}
