import { sql, type RawBuilder } from "kysely";
import type { Filter, SortKey } from "../../../base/filters/filter.ts";
import type { TemplateId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { conditionSql, sortSql, type SqlColumn } from "../../../db/filter-sql.ts";
import { isUniqueViolation } from "../../../db/sql-state.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { TEMPLATE_COLUMNS, isTemplateColumn, type Template, type TemplateColumn } from "./columns.ts";
import type { TemplateContent } from "./rules/content.ts";
import { isShippedSql } from "./shipped/store.ts";
import { decryptContent, decryptContentIfPossible, encryptContent, type VersionPlace } from "./encrypted-content.ts";

const COLUMNS = [
  "id",
  "creator_id",
  "hash_id",
  "content",
  "is_recommended",
  "count_created",
  "recent_create_at",
  "created_at",
] as const;
/** True for templates that came with the server; for queries on `templates` under its own name. */
const IS_SHIPPED = isShippedSql(sql.ref("templates.id"));

function fromStored<R extends VersionPlace & { readonly content: unknown }>(row: R, encryption: Encryption) {
  return { ...row, content: decryptContentIfPossible(row.content, row, encryption) };
}

/** The SQL expressions of `TEMPLATE_COLUMNS`; a property test holds both to the same answers. */
const EXPRESSIONS: Readonly<Record<TemplateColumn, RawBuilder<unknown>>> = {
  creator_id: sql`creator_id`,
  created_at: sql`extract(epoch from created_at)::float8`,
  count_created: sql`count_created`,
  default_tag: sql`(content ->> 'tag')`,
  docker_login_repo: sql`(content ->> 'docker_login_repo')`,
  id: sql`id`,
  image: sql`(content ->> 'image')`,
  jup_direct: sql`(content -> 'jup_direct')::boolean`,
  hash_id: sql`hash_id`,
  name: sql`(content ->> 'name')`,
  private: sql`is_private`,
  recent_create_date: sql`extract(epoch from recent_create_at)::float8`,
  recommended_disk_space: sql`(content -> 'recommended_disk_space')::float8`,
  recommended: sql`is_recommended`,
  ssh_direct: sql`(content -> 'ssh_direct')::boolean`,
  tag: sql`(content ->> 'tag')`,
  use_ssh: sql`(content -> 'use_ssh')::boolean`,
};

export type TemplateSearch = {
  readonly viewerId: UserId;
  readonly filters: readonly Filter[];
  /** A text that name, image or description must contain, in any case; undefined for all. */
  readonly text?: string | undefined;
  readonly order: readonly SortKey[];
  /** True for pages that go on after an id: they are in id order. */
  readonly isById?: boolean;
  readonly limit: number;
  readonly offset: number;
};

export type TemplatesFound = { readonly found: number; readonly templates: readonly Template[] };

/**
 * The viewer's own templates and all public ones, and how many there are beyond this page. Ties are in id order; without
 * an order those that came with the server are first.
 */
export async function searchTemplates(
  db: Reader,
  search: TemplateSearch,
  encryption: Encryption,
): Promise<TemplatesFound> {
  const conditions = [
    ...search.filters.map((filter) => conditionSql(filter, columnOf(filter.column))),
    ...(search.text === undefined ? [] : [contains(search.text)]),
  ];
  const rows = await db
    .selectFrom("templates")
    .select([...COLUMNS, IS_SHIPPED.as("is_shipped"), sql<number>`(count(*) over ())::integer`.as("found")])
    .where("deleted_at", "is", null)
    .where((eb) => eb.or([eb("creator_id", "=", search.viewerId), eb("is_private", "=", false)]))
    .where(conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`)
    .orderBy(sql.join(orderOf(search)))
    .limit(search.limit)
    .offset(search.offset)
    .execute();
  const [first] = rows;
  return { found: first?.found ?? 0, templates: rows.map((row) => fromStored(row, encryption)) };
}

function orderOf({ order, isById = false }: TemplateSearch): readonly RawBuilder<unknown>[] {
  const keys = order.map(({ column, direction }) => sortSql(columnOf(column), direction));
  return keys.length > 0 || isById ? [...keys, sql`id`] : [sql`is_shipped desc`, sql`id`];
}

/**
 * All visible templates, those that came with the server first and then in id order, for several viewers at once: at most `limit` for each viewer, and the count of all.
 */
export async function listVisibleTemplates(
  db: Reader,
  viewerIds: readonly UserId[],
  limit: number,
  encryption: Encryption,
): Promise<readonly TemplatesFound[]> {
  const columns = sql.join(COLUMNS.map((column) => sql.ref(column)));
  const { rows } = await sql<TemplateRow & { readonly found: number; readonly position: number }>`
    select visible.*, viewer.position::integer as position
    from unnest(${viewerIds}::integer[]) with ordinality as viewer (id, position)
    cross join lateral (
      select ${columns}, ${IS_SHIPPED} as is_shipped, (count(*) over ())::integer as found
      from templates
      where deleted_at is null and (creator_id = viewer.id or not is_private)
      order by is_shipped desc, id
      limit ${limit}
    ) as visible
    order by viewer.position, visible.is_shipped desc, visible.id
  `.execute(db);
  const byViewer = Map.groupBy(rows, (row) => row.position);
  return viewerIds.map((_, index) => {
    const own = byViewer.get(index + 1) ?? [];
    return { found: own[0]?.found ?? 0, templates: own.map((row) => fromStored(row, encryption)) };
  });
}

type TemplateRow = Omit<Template, "content"> & { readonly content: unknown };

function columnOf(name: string): SqlColumn {
  invariant(isTemplateColumn(name), `${name} is not a column of templates`);
  return { type: TEMPLATE_COLUMNS[name].type, expression: EXPRESSIONS[name] };
}

function contains(text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql`concat_ws(chr(10), content ->> 'name', content ->> 'image', content ->> 'desc') ilike ${pattern}::text`;
}

/** The creator's live template whose present content has this hash. */
export async function findOwnByCurrentHash(
  db: Reader,
  creatorId: UserId,
  hashId: string,
  encryption: Encryption,
): Promise<Template | undefined> {
  const row = await db
    .selectFrom("templates")
    .select([...COLUMNS, IS_SHIPPED.as("is_shipped")])
    .where("creator_id", "=", creatorId)
    .where("hash_id", "=", hashId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row && fromStored(row, encryption);
}

/** A template with its password as stored: encrypted, or in clear in rows of older versions. */
export type StoredTemplate = Omit<Template, "content"> & {
  readonly docker_login_pass: string;
  /** The content; undefined when it no longer decrypts. */
  readonly content: TemplateContent | undefined;
};

/** Locks the creator's own live template of this id. */
export async function findOwnForUpdate(
  tx: Tx,
  creatorId: UserId,
  id: TemplateId,
  encryption: Encryption,
): Promise<StoredTemplate | undefined> {
  const row = await tx.db
    .selectFrom("templates")
    .select([...COLUMNS, "docker_login_pass", IS_SHIPPED.as("is_shipped")])
    .where("id", "=", id)
    .where("creator_id", "=", creatorId)
    .where("deleted_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  return row && { ...row, content: decryptContent(row.content, row, encryption) };
}

/** The creator's own live template that has this hash now, or else the newest that ever had it. */
export async function findOwnIdByAnyHash(
  db: Reader,
  creatorId: UserId,
  hashId: string,
): Promise<TemplateId | undefined> {
  const row = await db
    .selectFrom("template_versions as version")
    .innerJoin("templates as template", "template.id", "version.template_id")
    .select("template.id")
    .where("version.hash_id", "=", hashId)
    .where("template.creator_id", "=", creatorId)
    .where("template.deleted_at", "is", null)
    .orderBy(sql`(template.hash_id = version.hash_id) desc, version.created_at desc, template.id desc`)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export type NewVersion = {
  readonly hashId: string;
  readonly content: TemplateContent;
  /** The encrypted password; empty when there is none. */
  readonly encryptedPassword: string;
};

/** Inserts a template; undefined when the creator has a live template of this content already. */
export async function insertTemplate(
  tx: Tx,
  creatorId: UserId,
  { hashId, content, encryptedPassword }: NewVersion,
  encryption: Encryption,
): Promise<Template | undefined> {
  const stored = JSON.stringify(encryptContent(content, { creator_id: creatorId, hash_id: hashId }, encryption));
  const row = await tx.db
    .insertInto("templates")
    .values({
      creator_id: creatorId,
      hash_id: hashId,
      content: stored,
      docker_login_pass: encryptedPassword,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.columns(["creator_id", "hash_id"]).where("deleted_at", "is", null).doNothing())
    .returning([...COLUMNS, IS_SHIPPED.as("is_shipped")])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await insertVersion(tx, row.id, { hashId, stored, encryptedPassword });
  return fromStored(row, encryption);
}

/**
 * Gives a template that the caller has locked its new content. The older version stays known by its hash. Undefined
 * when another template of the creator got this content first; the transaction must then be rolled back.
 */
export async function updateTemplate(
  tx: Tx,
  { id, creator_id }: Pick<Template, "id" | "creator_id">,
  { hashId, content, encryptedPassword }: NewVersion,
  encryption: Encryption,
): Promise<Template | undefined> {
  const stored = JSON.stringify(encryptContent(content, { creator_id, hash_id: hashId }, encryption));
  try {
    const row = await tx.db
      .updateTable("templates")
      .set({ hash_id: hashId, content: stored, docker_login_pass: encryptedPassword })
      .where("id", "=", id)
      .returning([...COLUMNS, IS_SHIPPED.as("is_shipped")])
      .executeTakeFirstOrThrow();
    await insertVersion(tx, id, { hashId, stored, encryptedPassword });
    return fromStored(row, encryption);
  } catch (error) {
    if (isUniqueViolation(error, "templates_creator_hash")) return undefined;
    throw error;
  }
}

async function insertVersion(
  tx: Tx,
  templateId: TemplateId,
  { hashId, stored, encryptedPassword }: Pick<NewVersion, "hashId" | "encryptedPassword"> & { readonly stored: string },
): Promise<void> {
  await tx.db
    .insertInto("template_versions")
    .values({
      template_id: templateId,
      hash_id: hashId,
      content: stored,
      docker_login_pass: encryptedPassword,
      created_at: tx.now,
    })
    // A template may return to an earlier content: that version is then the newest again.
    .onConflict((conflict) => conflict.columns(["template_id", "hash_id"]).doUpdateSet({ created_at: tx.now }))
    .execute();
}

/** Hides a template that the caller has locked, and deletes its secrets in every version. */
export async function deleteTemplate(tx: Tx, id: TemplateId): Promise<void> {
  await tx.db
    .updateTable("templates")
    .set({ deleted_at: tx.now, docker_login_pass: "" })
    .where("id", "=", id)
    .execute();
  await tx.db.updateTable("template_versions").set({ docker_login_pass: "" }).where("template_id", "=", id).execute();
}

export type TemplateVersion = {
  readonly id: TemplateId;
  readonly creator_id: UserId;
  readonly hash_id: string;
  /** The content; undefined when it no longer decrypts. */
  readonly content: TemplateContent | undefined;
  readonly docker_login_pass: string;
};

/**
 * The version that anybody may launch by this hash. Several users may have the same content: the viewer's own comes
 * first, then one that still has this hash, then the oldest.
 */
export async function findVersionByHash(
  db: Reader,
  viewerId: UserId,
  hashId: string,
  encryption: Encryption,
): Promise<TemplateVersion | undefined> {
  const row = await db
    .selectFrom("template_versions as version")
    .innerJoin("templates as template", "template.id", "version.template_id")
    .select(["template.id", "template.creator_id", "version.hash_id", "version.content", "version.docker_login_pass"])
    .where("version.hash_id", "=", hashId)
    .where("template.deleted_at", "is", null)
    .orderBy(
      sql`(template.creator_id = ${viewerId}::integer) desc, (template.hash_id = version.hash_id) desc, template.id`,
    )
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, content: decryptContent(row.content, row, encryption) };
}

/**
 * The names of the templates of these hashes. A hash is made of the content, so each name is the one that was rented,
 * also after an edit.
 */
export async function listTemplateNames(db: Reader, hashIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (hashIds.length === 0) return new Map();
  const { rows } = await sql<{ readonly hash_id: string; readonly name: string }>`
    select distinct on (hash_id) hash_id, content ->> 'name' as name
    from template_versions
    where hash_id = any(${[...new Set(hashIds)]}::text[])
  `.execute(db);
  return new Map(rows.map((row) => [row.hash_id, row.name]));
}

/** The present hashes of those of these templates that are public. */
export async function listPublicHashes(db: Reader, ids: readonly TemplateId[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom("templates")
    .select("hash_id")
    .where("id", "=", sql<TemplateId>`any(${[...new Set(ids)]}::integer[])`)
    .where("is_private", "=", false)
    .where("deleted_at", "is", null)
    .execute();
  return new Set(rows.map((row) => row.hash_id));
}

/** The present hash of a live template that is the viewer's own or public. */
export async function findVisibleHash(db: Reader, viewerId: UserId, id: TemplateId): Promise<string | undefined> {
  const row = await db
    .selectFrom("templates")
    .select("hash_id")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .where((eb) => eb.or([eb("creator_id", "=", viewerId), eb("is_private", "=", false)]))
    .executeTakeFirst();
  return row?.hash_id;
}

/** The key of `computePasswordMac`, made once with the table. */
export async function readHashKey(db: Reader): Promise<Buffer> {
  const row = await db.selectFrom("template_hash_keys").select("key").where("id", "=", 1).executeTakeFirstOrThrow();
  return row.key;
}
