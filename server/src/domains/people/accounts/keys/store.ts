import { sql } from "kysely";
import type { Identity, PermissionDocument } from "../../../../base/identity.ts";
import type { ApiKeyId, InstanceId, UserId } from "../../../../base/ids.ts";
import { insertRows } from "../../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { NewKey } from "./rules/keys.ts";
import type { Permissions } from "./rules/permissions.ts";

/** The holder of a key: an account, and in a team one of its members. An identity states the holder of its own key. */
export type KeyHolder = Pick<Identity, "userId" | "memberId">;

/** A key as its owner sees it; the secret is shown only at creation. */
export type ApiKey = KeyHolder & {
  readonly id: ApiKeyId;
  /** The team's name; undefined for a person's own key. */
  readonly teamName: string | undefined;
  /** The owner of that team. */
  readonly teamOwnerId: UserId | undefined;
  readonly name: string;
  readonly prefix: string;
  readonly permissions: Permissions;
  readonly keyParams: string;
  readonly demandsTfa: boolean;
  readonly createdAt: Date;
};

type ApiKeyInsert = {
  readonly userId: UserId;
  /** The member who acts with it, when the user is a team. */
  readonly memberId?: UserId | undefined;
  readonly name: string;
  readonly key: NewKey;
  readonly permissions: Permissions;
  readonly keyParams?: string;
  /** True when operations that destroy something need a session with a second factor. */
  readonly demandsTfa?: boolean;
};

type InstanceKeyInsert = Pick<NewKey, "sha256" | "prefix"> & {
  readonly userId: UserId;
  readonly instanceId: InstanceId;
};

const INSTANCE_KEY_NAME = "instance";

const COLUMNS = [
  "api_keys.id",
  "api_keys.user_id",
  "api_keys.member_id",
  "api_keys.name",
  "api_keys.key_prefix",
  "api_keys.permissions",
  "api_keys.key_params",
  "api_keys.demands_tfa",
  "api_keys.created_at",
  "users.username",
] as const;

export async function insertApiKey(
  tx: Tx,
  { userId, memberId, name, key, permissions, keyParams, demandsTfa = false }: ApiKeyInsert,
): Promise<ApiKeyId> {
  const row = await tx.db
    .insertInto("api_keys")
    .values({
      user_id: userId,
      member_id: memberId ?? null,
      name,
      key_sha256: key.sha256,
      key_prefix: key.prefix,
      permissions: permissions === undefined ? null : JSON.stringify(permissions),
      key_params: keyParams ?? "",
      demands_tfa: demandsTfa,
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** The live keys of a holder, oldest first, without those of instances. */
export async function listApiKeys(db: Reader, holder: KeyHolder): Promise<readonly ApiKey[]> {
  const rows = await keysHeldBy(db, holder).orderBy("api_keys.id").execute();
  return rows.map(toApiKey);
}

/** The live keys of all members of a team, oldest first. */
export async function listTeamKeys(db: Reader, teamId: UserId): Promise<readonly ApiKey[]> {
  const rows = await keysOf(db, teamId).where("api_keys.member_id", "is not", null).orderBy("api_keys.id").execute();
  return rows.map(toApiKey);
}

/** Number of live keys of an account, those of a team's members included, those of instances left out. */
export async function countApiKeys(db: Reader, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("instance_id", "is", null)
    .where("kind", "=", "api")
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The keys by which a person has ever acted for a team, deleted ones included. */
export async function listKeyIdsEver(
  db: Reader,
  { teamId, memberId }: { readonly teamId: UserId; readonly memberId: UserId },
): Promise<readonly ApiKeyId[]> {
  const rows = await db
    .selectFrom("api_keys")
    .select("id")
    .where("user_id", "=", teamId)
    .where("member_id", "=", memberId)
    .execute();
  return rows.map((row) => row.id);
}

export async function findApiKey(db: Reader, holder: KeyHolder, id: ApiKeyId): Promise<ApiKey | undefined> {
  const row = await keysHeldBy(db, holder).where("api_keys.id", "=", id).executeTakeFirst();
  return row && toApiKey(row);
}

/** True when the account has this live key, for any of its holders; keys of instances are left out. */
export async function hasApiKey(db: Reader, userId: UserId, id: ApiKeyId): Promise<boolean> {
  const row = await db
    .selectFrom("api_keys")
    .select("id")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("instance_id", "is", null)
    .where("kind", "=", "api")
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes a live API key of the holder, with the sessions that it opened. False when there is none. */
export async function deleteApiKey(tx: Tx, { userId, memberId }: KeyHolder, id: ApiKeyId): Promise<boolean> {
  const result = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("member_id", "is not distinct from", memberId ?? null)
    .where("instance_id", "is", null)
    .where("kind", "=", "api")
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await endSessionsOpenedBy(tx, [id]);
  return true;
}

/** Ends the sessions that these keys opened, and those that they opened in turn. */
export async function endSessionsOpenedBy(tx: Tx, ids: readonly ApiKeyId[]): Promise<void> {
  let openers = ids;
  while (openers.length > 0) {
    const rows = await tx.db
      .updateTable("api_keys")
      .set({ deleted_at: tx.now })
      .where("opened_by_key_id", "in", openers)
      .where("deleted_at", "is", null)
      .returning("id")
      .execute();
    openers = rows.map(({ id }) => id);
  }
}

/** Gives a live key to another holder; its secret stays. False when it is not a live key of the first one. */
export async function moveApiKey(
  tx: Tx,
  id: ApiKeyId,
  { from, to }: { readonly from: KeyHolder; readonly to: KeyHolder },
): Promise<boolean> {
  const result = await tx.db
    .updateTable("api_keys")
    .set({ user_id: to.userId, member_id: to.memberId ?? null })
    .where("id", "=", id)
    .where("user_id", "=", from.userId)
    .where("member_id", "is not distinct from", from.memberId ?? null)
    .where("instance_id", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes the live keys of a team, or those of one of its members, and returns them. */
export async function deleteTeamKeys(tx: Tx, teamId: UserId, memberId?: UserId): Promise<readonly ApiKeyId[]> {
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", teamId)
    .$if(memberId !== undefined, (query) => query.where("member_id", "=", memberId ?? null))
    .where("deleted_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes the user's live keys of this name, with the sessions that they opened. */
export async function deleteApiKeysNamed(tx: Tx, userId: UserId, name: string): Promise<void> {
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("instance_id", "is", null)
    .where("deleted_at", "is", null)
    .returning("id")
    .execute();
  await endSessionsOpenedBy(
    tx,
    rows.map(({ id }) => id),
  );
}

/** Gives a live key another secret; the old one is invalid after the commit. False when there is no such key. */
export async function replaceSecret(tx: Tx, id: ApiKeyId, key: NewKey): Promise<boolean> {
  const result = await tx.db
    .updateTable("api_keys")
    .set({ key_sha256: key.sha256, key_prefix: key.prefix })
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Stores the keys of new instances. Such a key may show, change, reboot and destroy its own instance, and download the
 * code of its deployment (base/access.ts).
 */
export async function insertInstanceKeys(tx: Tx, rows: readonly InstanceKeyInsert[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(({ userId, instanceId, sha256, prefix }) => ({
    user_id: userId,
    name: INSTANCE_KEY_NAME,
    key_sha256: sha256,
    key_prefix: prefix,
    permissions: null,
    instance_id: instanceId,
    created_at: tx.now,
  }));
  await insertRows(tx, "api_keys", values);
}

/** Deletes the keys of ended instances and returns them. Safe to repeat. */
export async function deleteInstanceKeys(tx: Tx, instanceIds: readonly InstanceId[]): Promise<readonly ApiKeyId[]> {
  if (instanceIds.length === 0) return [];
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("instance_id", "in", instanceIds)
    .where("deleted_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

const TEAM_OWNER = sql<UserId | null>`(select m.member_id from team_members m join team_roles r on r.id = m.role_id
  where m.team_id = api_keys.user_id and r.identifier = 'owner')`.as("owner_id");

function keysOf(db: Reader, userId: UserId) {
  return db
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select(COLUMNS)
    .select(TEAM_OWNER)
    .where("api_keys.user_id", "=", userId)
    .where("api_keys.instance_id", "is", null)
    .where("api_keys.kind", "=", "api")
    .where("api_keys.deleted_at", "is", null);
}

function keysHeldBy(db: Reader, { userId, memberId }: KeyHolder) {
  return keysOf(db, userId).where("api_keys.member_id", "is not distinct from", memberId ?? null);
}

type ApiKeyRow = Awaited<ReturnType<ReturnType<typeof keysOf>["executeTakeFirstOrThrow"]>>;

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    userId: row.user_id,
    memberId: row.member_id ?? undefined,
    teamName: row.member_id === null ? undefined : row.username,
    teamOwnerId: row.owner_id ?? undefined,
    name: row.name,
    prefix: row.key_prefix,
    permissions: readPermissions(row.permissions),
    keyParams: row.key_params,
    demandsTfa: row.demands_tfa,
    createdAt: row.created_at,
  };
}

/** The permissions in a stored document, which `parsePermissions` returned. */
export function readPermissions(stored: unknown): Permissions {
  return (stored as PermissionDocument | null) ?? undefined;
}
