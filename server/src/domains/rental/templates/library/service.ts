import { AppError, invalid } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { requireRoom } from "../../../people/accounts/index.ts";
import type { Template } from "../columns.ts";
import { isGiven, type Fields } from "../rules/fields.ts";
import {
  createTemplate,
  editTemplateById,
  noSuchTemplate,
  readHash,
  readTemplateId,
  removeTemplate,
  type TemplateMeans,
} from "../service.ts";
import {
  addTemplate,
  countAdded,
  findShared,
  findVisibleCreator,
  listLibrary,
  listPublic,
  listRecent,
  removeAdded,
  type UsedTemplate,
} from "./store.ts";

const OWN_MAX = 1_000;
const ADDED_MAX = 1_000;
const SHOWN_MAX = 100;

type Encrypted = Pick<TemplateMeans, "encryption">;

/** The account's own templates and those that it added, the newest change first. */
export function showLibrary(db: Reader, userId: UserId, { encryption }: Encrypted): Promise<readonly Template[]> {
  return listLibrary(db, userId, OWN_MAX + ADDED_MAX, encryption);
}

/** Public templates that the operator recommends, the most rented first. */
export function showRecommended(db: Reader, { encryption }: Encrypted): Promise<readonly Template[]> {
  return listPublic(db, { kind: "recommended", limit: SHOWN_MAX }, encryption);
}

/** Everything that an account may choose from, with the template of a hash that was shared with it. */
export async function showChoices(db: Reader, userId: UserId, hash: string, means: Encrypted) {
  const shared = await findShared(db, userId, readHash(hash, "hash_id"), means.encryption);
  if (shared === undefined) throw noSuchTemplate("hash_id");
  return {
    library: await showLibrary(db, userId, means),
    shared,
    popular: await listPublic(db, { kind: "popular", limit: SHOWN_MAX }, means.encryption),
    recommended: await showRecommended(db, means),
  };
}

/**
 * Creates the templates of a list, and edits those that have an `id`; all of them or none. Refusals name the place in
 * the list.
 */
export async function storeTemplates(
  tx: Tx,
  userId: UserId,
  { list, isEdit }: { readonly list: readonly Fields[]; readonly isEdit: boolean },
  means: TemplateMeans,
): Promise<readonly Template[]> {
  const stored: Template[] = [];
  for (const [index, fields] of list.entries()) {
    stored.push(await atPlace(index, () => storeTemplate(tx, userId, { fields, isEdit }, means)));
  }
  return stored;
}

async function storeTemplate(
  tx: Tx,
  userId: UserId,
  { fields, isEdit }: { readonly fields: Fields; readonly isEdit: boolean },
  means: TemplateMeans,
): Promise<Template> {
  if (isGiven(fields, "id")) return editTemplateById(tx, userId, fields, means);
  if (isEdit) throw invalid("id", "id is required: is_an_edit says that the template exists");
  const [user, password] = [fields["docker_login_user"] ?? "", fields["docker_login_pass"] ?? ""];
  if (user !== "" && password === "") {
    throw invalid("docker_login_pass", "docker_login_pass is required with docker_login_user");
  }
  return (await createTemplate(tx, userId, fields, means)).template;
}

/** Refusals of the work with the name of its place in the list in front. */
async function atPlace<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { kind, code, publicMessage, extra, internal } = error;
    const place = `templates[${index}]`;
    const field = typeof extra["field"] === "string" ? `${place}.${extra["field"]}` : place;
    const details = { extra: { ...extra, field }, internal, cause: error };
    throw new AppError(kind, code, `${place}: ${publicMessage}`, details);
  }
}

/** Puts a public template of somebody else into the account's library. Own templates are always in it. */
export async function addToLibrary(tx: Tx, userId: UserId, given: unknown): Promise<void> {
  const id = readTemplateId(given);
  const creatorId = id && (await findVisibleCreator(tx.db, userId, id));
  if (id === undefined || creatorId === undefined) throw noSuchTemplate("template_id");
  if (creatorId === userId || !(await addTemplate(tx, userId, id))) return;
  const count = async () => (await countAdded(tx, userId)) - 1; // Without the new one.
  await requireRoom(tx, userId, { count, max: ADDED_MAX, field: "template_id", what: "templates of others" });
}

/** Takes another's template out of the account's library, or deletes an own one. */
export async function removeFromLibrary(
  tx: Tx,
  userId: UserId,
  given: unknown,
  { encryption }: Encrypted,
): Promise<"removed" | "deleted"> {
  const id = readTemplateId(given);
  if (id !== undefined && (await removeAdded(tx, userId, id))) return "removed";
  await removeTemplate(tx, userId, { template_id: given }, encryption);
  return "deleted";
}

const RECENT_DEFAULT = 20;

export type RecentQuery = {
  readonly page_size?: number;
  readonly last_page_template_id?: number;
  readonly last_page_last_used_at?: number;
};

/** Templates that the account rented with, the last used first, from the place that the page before ended at. */
export async function showRecent(
  db: Reader,
  userId: UserId,
  { page_size: limit = RECENT_DEFAULT, ...place }: RecentQuery,
  { encryption }: Encrypted,
): Promise<{ readonly limit: number; readonly templates: readonly UsedTemplate[] }> {
  const { last_page_template_id: id, last_page_last_used_at: usedAtSeconds } = place;
  if ((id === undefined) !== (usedAtSeconds === undefined)) {
    const field = id === undefined ? "last_page_template_id" : "last_page_last_used_at";
    throw invalid(field, `${field} is required: a page begins after both, as the page before gave them`);
  }
  const after = id === undefined || usedAtSeconds === undefined ? undefined : { id, usedAtSeconds };
  return { limit, templates: await listRecent(db, userId, { limit, after }, encryption) };
}
