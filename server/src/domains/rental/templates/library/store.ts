import { sql, type RawBuilder } from "kysely";
import type { TemplateId, UserId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Template } from "../columns.ts";
import { isShippedSql } from "../shipped/store.ts";
import { decryptContentIfPossible } from "../encrypted-content.ts";

type Row = Omit<Template, "content"> & { readonly content: unknown };

const IS_SHIPPED = isShippedSql(sql`template.id`);
const COLUMNS = sql`template.id, template.creator_id, template.hash_id, template.content, template.is_recommended,
  template.count_created, template.recent_create_at, template.created_at, ${IS_SHIPPED} as is_shipped`;

function fromStored<R extends Row>(row: R, encryption: Encryption): R & Template {
  return { ...row, content: decryptContentIfPossible(row.content, row, encryption) };
}

/**
 * The library of an account: its own templates and those of others that it added, while they are public. The newest
 * change comes first.
 */
export async function listLibrary(
  db: Reader,
  userId: UserId,
  limit: number,
  encryption: Encryption,
): Promise<readonly Template[]> {
  const { rows } = await sql<Row>`
    with chosen as (
      select id from templates where creator_id = ${userId} and deleted_at is null
      union
      select added.template_id from user_templates as added
      join templates as template on template.id = added.template_id
      where added.user_id = ${userId} and added.added_at is not null
        and template.deleted_at is null and not template.is_private
    )
    select ${COLUMNS}
    from chosen join templates as template using (id)
    cross join lateral (
      select max(version.created_at) as changed_at from template_versions as version
      where version.template_id = template.id
    ) as versions
    order by versions.changed_at desc nulls last, template.id desc
    limit ${limit}
  `.execute(db);
  return rows.map((row) => fromStored(row, encryption));
}

/** Public templates in this order, and no more than `limit`. */
export async function listPublic(
  db: Reader,
  { kind, limit }: { readonly kind: "popular" | "recommended"; readonly limit: number },
  encryption: Encryption,
): Promise<readonly Template[]> {
  const condition: RawBuilder<unknown> =
    kind === "popular" ? sql`template.count_created > 0` : sql`template.is_recommended`;
  const { rows } = await sql<Row>`
    select ${COLUMNS} from templates as template
    where template.deleted_at is null and not template.is_private and ${condition}
    order by template.count_created desc, template.id limit ${limit}
  `.execute(db);
  return rows.map((row) => fromStored(row, encryption));
}

/** The version with this hash, as `findVersionByHash` chooses it, in the form of a template. */
export async function findShared(
  db: Reader,
  viewerId: UserId,
  hashId: string,
  encryption: Encryption,
): Promise<Template | undefined> {
  const { rows } = await sql<Row>`
    select template.id, template.creator_id, version.hash_id, version.content, template.is_recommended,
      template.count_created, template.recent_create_at, template.created_at, ${IS_SHIPPED} as is_shipped
    from template_versions as version join templates as template on template.id = version.template_id
    where version.hash_id = ${hashId} and template.deleted_at is null
    order by (template.creator_id = ${viewerId}) desc, (template.hash_id = version.hash_id) desc, template.id
    limit 1
  `.execute(db);
  const [row] = rows;
  return row && fromStored(row, encryption);
}

/** A page of templates that an account rented with: the place after which it begins, and its size. */
export type RecentPage = {
  readonly limit: number;
  /** The last row of the page before. Times are whole seconds, as clients send them back. */
  readonly after: { readonly usedAtSeconds: number; readonly id: number } | undefined;
};

/** A template with the time of the account's last rental, in whole seconds since the epoch. */
export type UsedTemplate = Template & { readonly used_at_seconds: number };

/** Templates that an account rented with and may still see, the last used first. */
export async function listRecent(
  db: Reader,
  userId: UserId,
  { limit, after }: RecentPage,
  encryption: Encryption,
): Promise<readonly UsedTemplate[]> {
  const usedAt = sql`floor(extract(epoch from used.last_used_at))::float8`;
  const place =
    after === undefined
      ? sql`true`
      : sql`(${usedAt}, template.id) < (${after.usedAtSeconds}::float8, ${after.id}::float8)`;
  const { rows } = await sql<Row & { readonly used_at_seconds: number }>`
    select ${COLUMNS}, ${usedAt} as used_at_seconds
    from user_templates as used join templates as template on template.id = used.template_id
    where used.user_id = ${userId} and used.last_used_at is not null and template.deleted_at is null
      and (template.creator_id = ${userId} or not template.is_private) and ${place}
    order by used_at_seconds desc, template.id desc
    limit ${limit}
  `.execute(db);
  return rows.map((row) => fromStored(row, encryption));
}

/** The creator of a live template that is the viewer's own or public. */
export async function findVisibleCreator(db: Reader, viewerId: UserId, id: TemplateId): Promise<UserId | undefined> {
  const row = await db
    .selectFrom("templates")
    .select("creator_id")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .where((eb) => eb.or([eb("creator_id", "=", viewerId), eb("is_private", "=", false)]))
    .executeTakeFirst();
  return row?.creator_id;
}

/** Counts others' templates in an account's library, hidden ones included. */
export async function countAdded(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("user_templates")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("added_at", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Puts a template into an account's library; false when it was there. */
export async function addTemplate(tx: Tx, userId: UserId, templateId: TemplateId): Promise<boolean> {
  const { rows } = await sql`
    insert into user_templates (user_id, template_id, added_at) values (${userId}, ${templateId}, ${tx.now})
    on conflict (user_id, template_id) do update set added_at = excluded.added_at
    where user_templates.added_at is null
    returning template_id
  `.execute(tx.db);
  return rows.length > 0;
}

/** Takes a template out of an account's library; false when it was not there. The last use of it stays known. */
export async function removeAdded(tx: Tx, userId: UserId, templateId: TemplateId): Promise<boolean> {
  const entry = () => sql`where user_id = ${userId} and template_id = ${templateId} and added_at is not null`;
  const { rows } = await sql`
    with gone as (delete from user_templates ${entry()} and last_used_at is null returning template_id),
    kept as (update user_templates set added_at = null ${entry()} and last_used_at is not null returning template_id)
    select template_id from gone union all select template_id from kept
  `.execute(tx.db);
  return rows.length > 0;
}

/**
 * Counts a rental with a template, and remembers it for the renter. The row of the template stays locked until the
 * commit, so call it late.
 */
export async function recordTemplateUse(tx: Tx, templateId: TemplateId, userId: UserId): Promise<void> {
  await sql`
    with counted as (
      update templates set count_created = count_created + 1, recent_create_at = ${tx.now} where id = ${templateId}
    )
    insert into user_templates (user_id, template_id, last_used_at) values (${userId}, ${templateId}, ${tx.now})
    on conflict (user_id, template_id) do update set last_used_at = excluded.last_used_at
  `.execute(tx.db);
}
