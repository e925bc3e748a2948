import type { Identity, PermissionDocument } from "../../base/identity.ts";
import type { ApiKeyId, InstanceId, UserId } from "../../base/ids.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { NewKey } from "./keys.ts";
import type { Permissions } from "./permissions.ts";

/** A key as its owner sees it; the secret cannot be had again. */
export type ApiKey = {
  readonly id: ApiKeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly prefix: string;
  readonly permissions: Permissions;
  readonly keyParams: string;
  readonly createdAt: Date;
};

type ApiKeyInsert = {
  readonly userId: UserId;
  readonly name: string;
  readonly key: NewKey;
  readonly permissions: Permissions;
  readonly keyParams?: string;
};

type InstanceKeyInsert = Pick<NewKey, "sha256" | "prefix"> & {
  readonly userId: UserId;
  readonly instanceId: InstanceId;
};

const INSTANCE_KEY_NAME = "instance";

const COLUMNS = ["id", "user_id", "name", "key_prefix", "permissions", "key_params", "created_at"] as const;

/** Whom a secret stands for; undefined when it was never issued, was deleted, or its user is gone. */
export async function findIdentity(db: Reader, sha256: Buffer): Promise<Identity | undefined> {
  const row = await db
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select(["api_keys.id", "api_keys.user_id", "api_keys.permissions", "api_keys.instance_id", "users.is_admin"])
    .where("api_keys.key_sha256", "=", sha256)
    .where("api_keys.deleted_at", "is", null)
    .where("users.deleted_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    userId: row.user_id,
    apiKeyId: row.id,
    isAdmin: row.is_admin,
    permissions: readPermissions(row.permissions),
    instanceId: row.instance_id ?? undefined,
  };
}

export async function insertApiKey(
  tx: Tx,
  { userId, name, key, permissions, keyParams }: ApiKeyInsert,
): Promise<ApiKeyId> {
  const row = await tx.db
    .insertInto("api_keys")
    .values({
      user_id: userId,
      name,
      key_sha256: key.sha256,
      key_prefix: key.prefix,
      permissions: permissions === undefined ? null : JSON.stringify(permissions),
      key_params: keyParams ?? "",
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** The live keys of a user, oldest first, without those of instances. */
export async function listApiKeys(db: Reader, userId: UserId): Promise<readonly ApiKey[]> {
  const rows = await ownKeys(db, userId).orderBy("id").execute();
  return rows.map(toApiKey);
}

export async function findApiKey(db: Reader, userId: UserId, id: ApiKeyId): Promise<ApiKey | undefined> {
  const row = await ownKeys(db, userId).where("id", "=", id).executeTakeFirst();
  return row && toApiKey(row);
}

/** Deletes a live key of the user, but not an instance's. False when there is none. */
export async function deleteApiKey(tx: Tx, userId: UserId, id: ApiKeyId): Promise<boolean> {
  const result = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("instance_id", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes the user's live keys of this name and returns them. */
export async function deleteApiKeysNamed(tx: Tx, userId: UserId, name: string): Promise<readonly ApiKeyId[]> {
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("instance_id", "is", null)
    .where("deleted_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Gives a live key another secret; the old one is worth nothing after the commit. False when there is no such key. */
export async function replaceSecret(tx: Tx, id: ApiKeyId, key: NewKey): Promise<boolean> {
  const result = await tx.db
    .updateTable("api_keys")
    .set({ key_sha256: key.sha256, key_prefix: key.prefix })
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Stores the keys of new instances, which may do what semantics.md §13.4 allows and only to their own instance. */
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

/** Deletes the keys of instances that are gone and returns them. Safe to repeat. */
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

function ownKeys(db: Reader, userId: UserId) {
  return db
    .selectFrom("api_keys")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("instance_id", "is", null)
    .where("deleted_at", "is", null);
}

type ApiKeyRow = Awaited<ReturnType<ReturnType<typeof ownKeys>["executeTakeFirstOrThrow"]>>;

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    prefix: row.key_prefix,
    permissions: readPermissions(row.permissions),
    keyParams: row.key_params,
    createdAt: row.created_at,
  };
}

/** Only documents that `parsePermissions` returned are ever stored. */
function readPermissions(stored: unknown): Permissions {
  return stored === null ? undefined : (stored as PermissionDocument);
}
