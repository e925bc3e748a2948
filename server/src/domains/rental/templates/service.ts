import { conflict, invalid, notFound } from "../../../base/errors.ts";
import { readPageToken, writePageToken, type PagedList } from "../../../base/filters/page-token.ts";
import { STRICT_FILTERS, parseFilters } from "../../../base/filters/parse-filters.ts";
import type { Filter } from "../../../base/filters/filter.ts";
import { parseOrderBy } from "../../../base/filters/parse-order.ts";
import { parseId, type TemplateId, type UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { requireRoom } from "../../people/accounts/index.ts";
import { TEMPLATE_COLUMNS, type Template } from "./columns.ts";
import { HASH_ID, computeHashId, computePasswordMac } from "./rules/content-hash.ts";
import { readChangedContent, readNewContent, readPassword, type TemplateContent } from "./rules/content.ts";
import { isGiven, type Fields } from "./rules/fields.ts";
import type { RegistryClient } from "./registry/client.ts";
import type { LaunchTemplate } from "./rules/launch.ts";
import { countTemplates, countVersions } from "./room-store.ts";
import {
  deleteTemplate,
  findOwnByCurrentHash,
  findOwnForUpdate,
  findOwnIdByAnyHash,
  findVersionByHash,
  findVisibleHash,
  insertTemplate,
  listVisibleTemplates,
  readHashKey,
  searchTemplates,
  updateTemplate,
  type NewVersion,
  type StoredTemplate,
  type TemplatesFound,
} from "./store.ts";
import { findVersion } from "./versions/store.ts";

const RESULTS_MAX = 1000;

export type SearchQuery = {
  readonly select_filters?: unknown;
  readonly order_by?: unknown;
  readonly limit?: number;
  readonly offset?: number;
};

/** The caller's own templates and public ones that match the filters of the query. */
export async function findTemplates(db: Reader, viewerId: UserId, query: SearchQuery, encryption: Encryption) {
  const filters = parseFilters(query.select_filters, TEMPLATE_COLUMNS, { ...STRICT_FILTERS, source: "select_filters" });
  const order = parseOrderBy(query.order_by, TEMPLATE_COLUMNS, { source: "order_by" });
  const { limit = RESULTS_MAX, offset = 0 } = query;
  return searchTemplates(db, { viewerId, filters: filters.map(withPublicAsNull), order, limit, offset }, encryption);
}

const PAGE_DEFAULT = 100;
const PAGES = { name: "templates", types: ["integer"] } as const satisfies PagedList;

export type PageQuery = {
  readonly select_filters?: unknown;
  readonly search?: string;
  readonly limit?: number;
  readonly after_token?: string;
};

/** One page of the templates that match, in the order of their ids, and the token of the next page. */
export async function findTemplatePage(db: Reader, viewerId: UserId, query: PageQuery, encryption: Encryption) {
  const source = "select_filters";
  const filters = parseFilters(query.select_filters, TEMPLATE_COLUMNS, { ...STRICT_FILTERS, source }).map(
    withPublicAsNull,
  );
  const { search, limit = PAGE_DEFAULT, after_token: token } = query;
  const place = readPageToken(PAGES, token);
  const after: Filter[] =
    place === undefined ? [] : [{ kind: "compare", column: "id", operator: "gt", value: place[0] }];
  const text = search === undefined || search.trim() === "" ? undefined : search.trim();
  const wanted = { viewerId, filters: [...filters, ...after], text, order: [], isById: true, limit, offset: 0 };
  const { found, templates } = await searchTemplates(db, wanted, encryption);
  const last = templates.at(-1);
  return {
    templates,
    nextToken: last === undefined || found <= templates.length ? null : writePageToken(PAGES, [last.id]),
  };
}

/** The result of `findTemplates` without conditions, for each of these viewers. */
export function findAllTemplates(
  db: Reader,
  viewerIds: readonly UserId[],
  encryption: Encryption,
): Promise<readonly TemplatesFound[]> {
  return listVisibleTemplates(db, viewerIds, RESULTS_MAX, encryption);
}

/** True when the query leaves everything to the defaults. */
export function asksForAll({ select_filters: filters, order_by: order, limit, offset }: SearchQuery): boolean {
  return [filters, order, limit, offset].every((given) => given === undefined);
}

/** Clients ask for public templates by `private: {"eq": null}`. */
function withPublicAsNull(filter: Filter): Filter {
  if (filter.column !== "private") return filter;
  if (filter.kind === "compare") return filter.value === null ? { ...filter, value: false } : filter;
  return { ...filter, values: filter.values.map((value) => value ?? false) };
}

const TEMPLATES_MAX = 1_000;
/** Bound of a template's versions. Each keeps its hash while the template lives, since its owner may have shared it. */
const VERSIONS_MAX = 1_000;

export type TemplateMeans = {
  readonly encryption: Encryption;
  /** Throws when the registry of the image that a field names is in a private network and no host allows it. */
  readonly requireRegistry: (db: Reader, named: { readonly image: string; readonly field: string }) => Promise<void>;
  readonly registries: RegistryClient;
};

async function checkRegistries(
  tx: Tx,
  { image, docker_login_repo: login }: TemplateContent,
  requireRegistry: TemplateMeans["requireRegistry"],
): Promise<void> {
  await requireRegistry(tx.db, { image, field: "image" });
  // A login names the host of its registry; some clients send a URL.
  const registry = login.trim().replace(/^https?:\/\//, "");
  if (registry !== "") await requireRegistry(tx.db, { image: `${registry}/image`, field: "docker_login_repo" });
}

/** Creates a template, or returns the caller's own template of exactly this content. */
export async function createTemplate(
  tx: Tx,
  creatorId: UserId,
  fields: Fields,
  { encryption, requireRegistry }: TemplateMeans,
): Promise<{ readonly template: Template; readonly isNew: boolean }> {
  const login = { creatorId, password: readPassword(fields) ?? "" };
  const content = readNewContent(fields);
  await checkRegistries(tx, content, requireRegistry);
  const version = await versionOf(tx, content, login, encryption);
  const inserted = await insertTemplate(tx, creatorId, version, encryption);
  if (inserted !== undefined) {
    const count = async () => (await countTemplates(tx.db, creatorId)) - 1; // Without the new one.
    await requireRoom(tx, creatorId, { count, max: TEMPLATES_MAX, field: "name", what: "templates" });
    return { template: inserted, isNew: true };
  }
  const template = await findOwnByCurrentHash(tx.db, creatorId, version.hashId, encryption);
  // Only a delete between the two statements could hide it, so the client should repeat the call.
  if (template === undefined) throw conflict("template_changed", "The template changed meanwhile. Try again.");
  return { template, isNew: false };
}

/**
 * Changes the caller's own template that has this hash. The id stays and the hash follows the content. A hash that it
 * only had before is refused, so that no edit overwrites one that its author has not seen. An edit that would make it
 * equal to another template of the user is a conflict: one content has one template per user.
 */
export async function editTemplate(tx: Tx, creatorId: UserId, fields: Fields, means: TemplateMeans): Promise<Template> {
  const hashId = readHash(fields["hash_id"], "hash_id");
  const id = await findOwnIdByAnyHash(tx.db, creatorId, hashId);
  return changeTemplate(tx, creatorId, { id, hashId, field: "hash_id", fields }, means);
}

/** `editTemplate` for a template that is named by its id. A hash that is given besides must be its present one. */
export async function editTemplateById(
  tx: Tx,
  creatorId: UserId,
  fields: Fields,
  means: TemplateMeans,
): Promise<Template> {
  const id = readTemplateId(fields["id"], "id");
  const hashId = isGiven(fields, "hash_id") ? readHash(fields["hash_id"], "hash_id") : undefined;
  return changeTemplate(tx, creatorId, { id, hashId, field: "id", fields }, means);
}

type Change = {
  readonly id: TemplateId | undefined;
  /** The hash that the template must have now; undefined for any. */
  readonly hashId: string | undefined;
  /** The field that names the template. */
  readonly field: string;
  readonly fields: Fields;
};

async function changeTemplate(
  tx: Tx,
  creatorId: UserId,
  { id, hashId, field, fields }: Change,
  { encryption, requireRegistry }: TemplateMeans,
): Promise<Template> {
  const current = id && (await findOwnForUpdate(tx, creatorId, id, encryption));
  if (current === undefined) throw noSuchTemplate(field);
  if (hashId !== undefined && current.hash_id !== hashId) throw outdated(current);
  const base = await baseOf(tx, current, fields, encryption);
  if (base.content === undefined) throw unreadable(field);
  const content = readChangedContent(fields, base.content);
  await checkRegistries(tx, content, requireRegistry);
  const password = readPassword(fields) ?? openPassword(base, encryption, "docker_login_pass");
  const version = await versionOf(tx, content, { creatorId, password }, encryption);
  if (version.hashId === current.hash_id) return { ...current, content };
  const twin = await findOwnByCurrentHash(tx.db, creatorId, version.hashId, encryption);
  if (twin !== undefined) throw alreadyExists({ template_id: twin.id });
  if ((await countVersions(tx, current.id)) >= VERSIONS_MAX) throw tooManyVersions(current.id);
  const updated = await updateTemplate(tx, current, version, encryption);
  if (updated === undefined) throw alreadyExists({});
  return updated;
}

/** The version that an edit changes: the present one, or the earlier one that the edit restores. */
async function baseOf(tx: Tx, current: StoredTemplate, fields: Fields, encryption: Encryption) {
  const name = "restore_hash_id";
  if (!isGiven(fields, name)) return current;
  const { id, creator_id: creatorId } = current;
  const version = await findVersion(tx.db, { id, creatorId }, readHash(fields[name], name), encryption);
  if (version === undefined) throw noSuchTemplate(name);
  if (version.content === undefined) throw unreadable(name);
  return version;
}

/** Deletes the caller's own template, named by id or by any of its hashes. Instances made from it are unaffected. */
export async function removeTemplate(tx: Tx, creatorId: UserId, fields: Fields, encryption: Encryption): Promise<void> {
  const { template_id: givenId, hash_id: givenHash } = fields;
  if (givenId === undefined && givenHash === undefined) throw invalid("template_id", "template_id is required");
  const field = givenId === undefined ? "hash_id" : "template_id";
  const id =
    givenId === undefined
      ? await findOwnIdByAnyHash(tx.db, creatorId, readHash(givenHash, "hash_id"))
      : readTemplateId(givenId);
  const template = id && (await findOwnForUpdate(tx, creatorId, id, encryption));
  if (template === undefined) throw noSuchTemplate(field);
  await deleteTemplate(tx, template.id);
}

export type ResolvedTemplate = LaunchTemplate & {
  readonly id: TemplateId;
  readonly hashId: string;
  readonly name: string;
};

/**
 * The version with this hash, for creating an instance: the caller's own or anybody's, private ones included, since its
 * owner shared the hash. The registry password goes along with an own or a private version; that of a public one serves
 * its owner alone, or everybody could collect it with a host of their own. An unknown hash is `not_found`.
 */
export async function resolveTemplateByHash(
  db: Reader,
  userId: UserId,
  hash: unknown,
  encryption: Encryption,
): Promise<ResolvedTemplate> {
  return resolveNamedTemplate(db, userId, { hash, field: "template_hash_id" }, encryption);
}

/** `resolveTemplateByHash` for requests that name the hash by another field, which refusals then name. */
export async function resolveNamedTemplate(
  db: Reader,
  userId: UserId,
  { hash, field }: { readonly hash: unknown; readonly field: string },
  encryption: Encryption,
): Promise<ResolvedTemplate> {
  const version = await findVersionByHash(db, userId, readHash(hash, field), encryption);
  if (version === undefined) throw noSuchTemplate(field);
  const { content } = version;
  if (content === undefined) throw unreadable(field);
  const mayLogin = version.creator_id === userId || content.private;
  return {
    id: version.id,
    hashId: version.hash_id,
    name: content.name,
    content,
    docker_login_pass: mayLogin ? openPassword(version, encryption, field) : "",
  };
}

/**
 * The present version of an own or public template. A private one is found by its hash alone, which cannot be guessed.
 */
export async function resolveTemplateById(
  db: Reader,
  userId: UserId,
  id: unknown,
  encryption: Encryption,
): Promise<ResolvedTemplate> {
  const templateId = readTemplateId(id);
  const hash = templateId && (await findVisibleHash(db, userId, templateId));
  if (hash === undefined) throw noSuchTemplate("template_id");
  return resolveTemplateByHash(db, userId, hash, encryption);
}

async function versionOf(
  tx: Tx,
  content: TemplateContent,
  { creatorId, password }: { readonly creatorId: UserId; readonly password: string },
  encryption: Encryption,
): Promise<NewVersion> {
  const mac = password === "" ? "" : computePasswordMac(password, await readHashKey(tx.db));
  const hashId = computeHashId(content, mac);
  const encryptedPassword = password === "" ? "" : encryption.encrypt(password, passwordContext(creatorId, hashId));
  return { content, encryptedPassword, hashId };
}

type WithPassword = { readonly creator_id: UserId; readonly hash_id: string; readonly docker_login_pass: string };

/** The registry password of a stored version; empty when it has none. */
function openPassword(version: WithPassword, encryption: Encryption, field: string): string {
  const { creator_id: creatorId, hash_id: hashId, docker_login_pass: stored } = version;
  const password = encryption.decrypt(stored, passwordContext(creatorId, hashId));
  if (password !== undefined) return password;
  // The server had another secret when the password was stored.
  throw invalid(field, "The registry password of this template can no longer be read; set docker_login_pass again.");
}

/** The server had another secret when the template was stored. */
function unreadable(field: string) {
  return invalid(field, "The env, onstart and args_str of this template can no longer be read; create it again.");
}

/** The context of encryption. A version has one password, because its hash depends on it. */
function passwordContext(creatorId: UserId, hashId: string): string {
  return `template password ${creatorId} ${hashId}`;
}

/** Reads a hash as a caller gives it. A hash that no template can have is simply not found later. */
export function readHash(value: unknown, field: string): string {
  if (value === undefined || value === null || value === "") throw invalid(field, `${field} is required`);
  if (typeof value !== "string") throw invalid(field, `${field} must be a text`);
  const hash = value.trim().toLowerCase();
  if (!HASH_ID.test(hash)) throw noSuchTemplate(field);
  return hash;
}

export function readTemplateId(value: unknown, field = "template_id"): TemplateId | undefined {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^-?\d+$/.test(text.trim())) {
    throw invalid(field, `${field} must be the numeric id of a template`);
  }
  return parseId<TemplateId>(text.trim());
}

function tooManyVersions(id: TemplateId) {
  const message = `Template ${id} has had ${VERSIONS_MAX} versions, and may have no more. Create a new template.`;
  return invalid("hash_id", message, "too_many");
}

function alreadyExists(extra: Readonly<Record<string, unknown>>) {
  return conflict("template_exists", "Another template of yours has exactly this content already.", { extra });
}

function outdated({ id, hash_id: hashId }: Pick<Template, "id" | "hash_id">) {
  const message = `Template ${id} was edited meanwhile: hash_id names an earlier version. Its hash is now ${hashId}.`;
  return notFound("invalid_template", message, { extra: { field: "hash_id", template_id: id, hash_id: hashId } });
}

export function noSuchTemplate(field: string) {
  return notFound("no_such_template", `There is no such template of yours: ${field} names none.`, { extra: { field } });
}
