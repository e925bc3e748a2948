import { sql, type RawBuilder } from "kysely";
import type { AccountFreezeId, ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** An account as administrators find it. */
export type FoundUser = {
  readonly id: UserId;
  readonly email: string;
  readonly isEmailProven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parentId: UserId | undefined;
  readonly isAdmin: boolean;
  readonly isTeam: boolean;
  readonly hasTfa: boolean;
  /** The open freeze that holds for the account, its own or its parent's. */
  readonly freezeId: AccountFreezeId | undefined;
  readonly createdAt: Date;
  readonly deletedAt: Date | undefined;
  /** The last request with one of its keys, as far as it is stored. */
  readonly lastSeenAt: Date | undefined;
};

export type UserSearch = {
  /** An id, or a part of a name or an e-mail address in any case. */
  readonly text?: string | undefined;
  /** The account or member that this key is of, deleted keys included. */
  readonly keyId?: ApiKeyId | undefined;
  readonly isFrozen?: boolean | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly isTeam?: boolean | undefined;
  /** Only accounts with a smaller id. */
  readonly beforeId?: UserId | undefined;
  readonly limit: number;
};

type Row = {
  readonly id: UserId;
  readonly email: string;
  readonly is_email_proven: boolean;
  readonly username: string;
  readonly fullname: string;
  readonly parent_id: UserId | null;
  readonly is_admin: boolean;
  readonly is_team: boolean;
  readonly has_tfa: boolean;
  readonly freeze_id: AccountFreezeId | null;
  readonly created_at: Date;
  readonly deleted_at: Date | null;
  readonly last_seen_at: Date | null;
};

/** Live accounts that match a search, the newest first. */
export async function searchUsers(db: Reader, search: UserSearch): Promise<readonly FoundUser[]> {
  const { text, keyId, isFrozen, isAdmin, isTeam, beforeId, limit } = search;
  return selectUsers(
    db,
    [
      sql<boolean>`u.deleted_at is null`,
      ...(text === undefined ? [] : [matchesText(text)]),
      ...(keyId === undefined
        ? []
        : [
            sql<boolean>`u.id in (
        select unnest(array[user_id, member_id]) from api_keys where id = ${keyId}::integer
      )`,
          ]),
      ...(isFrozen === undefined ? [] : [sql<boolean>`(u.freeze_id is not null) = ${isFrozen}::boolean`]),
      ...(isAdmin === undefined ? [] : [sql<boolean>`u.is_admin = ${isAdmin}::boolean`]),
      ...(isTeam === undefined ? [] : [sql<boolean>`u.is_team = ${isTeam}::boolean`]),
      ...(beforeId === undefined ? [] : [sql<boolean>`u.id < ${beforeId}::integer`]),
    ],
    limit,
  );
}

/** One account, deleted ones included. */
export async function findAnyUser(db: Reader, id: UserId): Promise<FoundUser | undefined> {
  return (await selectUsers(db, [sql<boolean>`u.id = ${id}::integer`], 1))[0];
}

/** E-mail addresses of these accounts, deleted ones included. */
export async function listAddressesOf(db: Reader, ids: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
  const rows = await db
    .selectFrom("users")
    .select(["id", "email"])
    .where("id", "=", sql<UserId>`any(${[...ids]}::integer[])`)
    .execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** Numbers of what an account has in this domain. */
export type AccountCounts = {
  readonly keys: number;
  readonly sessions: number;
  readonly members: number;
  readonly teams: number;
  readonly subaccounts: number;
};

export async function countAccountParts(db: Reader, now: Date, id: UserId): Promise<AccountCounts> {
  const { rows } = await sql<AccountCounts>`
    select
      (select count(*) from api_keys where user_id = ${id} and deleted_at is null and kind = 'api'
        and instance_id is null)::integer as keys,
      (select count(*) from api_keys where user_id = ${id} and deleted_at is null and kind <> 'api'
        and expires_at > ${now}::timestamptz)::integer as sessions,
      (select count(*) from team_members where team_id = ${id})::integer as members,
      (select count(*) from team_members where member_id = ${id})::integer as teams,
      (select count(*) from users where parent_id = ${id} and deleted_at is null)::integer as subaccounts
  `.execute(db);
  return rows[0] ?? { keys: 0, sessions: 0, members: 0, teams: 0, subaccounts: 0 };
}

function matchesText(text: string): RawBuilder<boolean> {
  const lower = text.toLowerCase();
  const contains = (column: string) => sql`position(${lower}::text in lower(${sql.ref(column)})) > 0`;
  const isId = /^[1-9]\d{0,9}$/.test(text);
  const id = isId ? sql`u.id = ${text}::bigint or` : sql``;
  return sql<boolean>`(${id} ${contains("u.email")} or ${contains("u.username")} or ${contains("u.fullname")})`;
}

async function selectUsers(
  db: Reader,
  conditions: readonly RawBuilder<boolean>[],
  limit: number,
): Promise<readonly FoundUser[]> {
  const { rows } = await sql<Row>`
    select u.id, u.email, u.email_proven_at is not null as is_email_proven, u.username, u.fullname, u.parent_id,
      u.is_admin, u.is_team, u.tfa_enabled_at is not null as has_tfa, u.freeze_id, u.created_at, u.deleted_at,
      (select max(last_seen_at) from ip_accesses where user_id = u.id) as last_seen_at
    from users u where ${sql.join(conditions, sql` and `)}
    order by u.id desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    isEmailProven: row.is_email_proven,
    username: row.username,
    fullname: row.fullname,
    parentId: row.parent_id ?? undefined,
    isAdmin: row.is_admin,
    isTeam: row.is_team,
    hasTfa: row.has_tfa,
    freezeId: row.freeze_id ?? undefined,
    createdAt: row.created_at,
    deletedAt: row.deleted_at ?? undefined,
    lastSeenAt: row.last_seen_at ?? undefined,
  }));
}
