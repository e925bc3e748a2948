import { sql } from "kysely";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { Permissions } from "../keys/rules/permissions.ts";
import { findAnyUsers, type AnyUser } from "../users/store.ts";

/** A subaccount, deleted ones included, with its oldest live key: the one that its parent was given. */
export type Subaccount = AnyUser & {
  readonly key: { readonly id: ApiKeyId; readonly prefix: string; readonly permissions: Permissions } | undefined;
};

/** The subaccounts of an account, or the named one of them, in id order. */
export async function listSubaccounts(db: Reader, parentId: UserId, only?: UserId): Promise<readonly Subaccount[]> {
  const users = await findAnyUsers(db, { parentId, only });
  if (users.length === 0) return [];
  const { rows } = await sql<{
    readonly user_id: UserId;
    readonly id: ApiKeyId;
    readonly key_prefix: string;
    readonly permissions: Permissions | null;
  }>`
    select k.user_id, k.id, k.key_prefix, k.permissions
    from unnest(${users.map(({ id }) => id)}::integer[]) as u (id)
    cross join lateral (
      select user_id, id, key_prefix, permissions from api_keys
      where user_id = u.id and deleted_at is null and instance_id is null and kind = 'api'
      order by id limit 1
    ) as k
  `.execute(db);
  const keys = new Map(
    rows.map((row) => [row.user_id, { id: row.id, prefix: row.key_prefix, permissions: row.permissions ?? undefined }]),
  );
  return users.map((user) => ({ ...user, key: keys.get(user.id) }));
}
