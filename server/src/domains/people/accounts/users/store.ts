import { sql, type RawBuilder } from "kysely";
import type { Freeze } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { ProvenBy } from "../emails/store.ts";
import { findFreezes } from "../freeze-store.ts";
import type { User } from "./rules/user.ts";

export type UserInsert = {
  readonly email: string;
  /** The proof of the address; absent for an unproven one. */
  readonly provenBy?: ProvenBy | undefined;
  readonly username: string;
  readonly passwordHash?: string | undefined;
  readonly parentId?: UserId | undefined;
  readonly isAdmin?: boolean;
  readonly isHostOnly?: boolean;
  readonly isTeam?: boolean;
  readonly sshKey?: string;
};

/** The settable columns of a user, by the names of the contract. */
export type UserChanges = {
  readonly username?: string;
  readonly fullname?: string;
  readonly ssh_key?: string;
  readonly billaddress_line1?: string;
  readonly billaddress_line2?: string;
  readonly billaddress_city?: string;
  readonly billaddress_zip?: string;
  readonly billaddress_country?: string;
  readonly taxinfo?: string;
  readonly balance_threshold_nanos?: bigint;
  readonly balance_threshold_enabled?: boolean;
  readonly traffic_limit_nanos?: bigint | null;
};

/** A user whose account may be deleted. */
export type AnyUser = User & { readonly deletedAt: Date | undefined };

const COLUMNS = [
  "id",
  "email",
  "email_proven_at",
  "username",
  "fullname",
  "parent_id",
  "is_admin",
  "is_host_only",
  "is_team",
  "ssh_key",
  "billaddress_line1",
  "billaddress_line2",
  "billaddress_city",
  "billaddress_zip",
  "billaddress_country",
  "taxinfo",
  "balance_threshold_nanos",
  "traffic_limit_nanos",
  "balance_threshold_enabled",
  "tfa_enabled_at",
  "created_at",
] as const;

/** The account at the top of this account's parents; itself when it has no parent. */
export async function findTopAccount(db: Reader, id: UserId): Promise<UserId> {
  const { rows } = await sql<{ readonly id: UserId }>`
    with recursive line as (
      select id, parent_id from users where id = ${id}
      union select users.id, users.parent_id from users join line on users.id = line.parent_id
    )
    select id from line where parent_id is null
  `.execute(db);
  return rows[0]?.id ?? id;
}

/** Number of live accounts below this one, at any depth. */
export async function countSubaccounts(db: Reader, topId: UserId): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`
    with recursive below as (
      select id, deleted_at from users where parent_id = ${topId}
      union select users.id, users.deleted_at from users join below on users.parent_id = below.id
    )
    select count(*) filter (where deleted_at is null)::integer as count from below
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Inserts a user; undefined when a live account has proven the address already. The caller decides about other claims.
 */
export async function insertUser(tx: Tx, user: UserInsert): Promise<UserId | undefined> {
  const row = await tx.db
    .insertInto("users")
    .values({
      email: user.email,
      email_proven_at: user.provenBy === undefined ? null : tx.now,
      email_proven_by: user.provenBy ?? null,
      username: user.username,
      password_hash: user.passwordHash ?? null,
      parent_id: user.parentId ?? null,
      is_admin: user.isAdmin ?? false,
      is_host_only: user.isHostOnly ?? false,
      is_team: user.isTeam ?? false,
      ssh_key: user.sshKey ?? "",
      created_at: tx.now,
    })
    .onConflict((conflict) =>
      conflict.column("email").where("deleted_at", "is", null).where("email_proven_at", "is not", null).doNothing(),
    )
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

export async function findUser(db: Reader, id: UserId): Promise<User | undefined> {
  const row = await liveUsers(db).where("id", "=", id).executeTakeFirst();
  return row && toUser(row);
}

/** SQL for other stores: true for a user whose account is not deleted. */
export const isLiveUser = (id: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from users where users.id = ${id} and users.deleted_at is null)`;

/**
 * The live users who claim an address, given in lower case as all are stored; the one who has proven it comes first.
 */
export async function listUsersByEmail(db: Reader, email: string): Promise<readonly User[]> {
  const rows = await liveUsers(db).where("email", "=", email).orderBy("email_proven_at").orderBy("id").execute();
  return rows.map(toUser);
}

/** The live accounts of administrators, in id order. */
export async function listAdministratorIds(db: Reader): Promise<readonly UserId[]> {
  const rows = await liveUsers(db).where("is_admin", "=", true).orderBy("id").execute();
  return rows.map((row) => row.id);
}

/** The oldest administrator. */
export async function findFirstAdmin(db: Reader): Promise<User | undefined> {
  const row = await liveUsers(db).where("is_admin", "=", true).orderBy("id").limit(1).executeTakeFirst();
  return row && toUser(row);
}

/** Blocks other changes of the user's objects until the commit, so that counts and names stay valid. */
export async function lockUser(tx: Tx, id: UserId): Promise<void> {
  await tx.db.selectFrom("users").select("id").where("id", "=", id).forNoKeyUpdate().execute();
}

/** Changes columns of a user; false when the account is deleted. */
export async function updateUser(tx: Tx, id: UserId, changes: UserChanges): Promise<boolean> {
  const result = await tx.db
    .updateTable("users")
    .set(changes)
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends an account. Its keys become invalid, and its address may be used again. */
export async function markUserDeleted(tx: Tx, id: UserId): Promise<void> {
  await tx.db.updateTable("users").set({ deleted_at: tx.now }).where("id", "=", id).execute();
}

/**
 * Waits for transactions that store something for this user, and blocks others until the commit: a later look finds
 * everything.
 */
export async function lockBelongings(tx: Tx, id: UserId): Promise<void> {
  await tx.db.selectFrom("users").select("id").where("id", "=", id).forUpdate().execute();
}

/**
 * Locks those of these accounts that are live until the commit, and returns each with its freeze, if one holds: for
 * transactions that store something with an owner. Taken before the locks of money, since the deletion of an account
 * takes those next.
 */
export async function keepAccounts(tx: Tx, ids: readonly UserId[]): Promise<ReadonlyMap<UserId, Freeze | undefined>> {
  const { rows } = await sql<{ id: UserId; freeze_id: Freeze["id"] | null }>`
    select id, freeze_id from users where id = any(${ids}::integer[]) and deleted_at is null order by id for key share
  `.execute(tx.db);
  // Read after the lock: the statement before does not see a freeze that this transaction waited for.
  const freezes = await findFreezes(
    tx.db,
    rows.flatMap(({ freeze_id: id }) => id ?? []),
  );
  return new Map(rows.map((row) => [row.id, row.freeze_id === null ? undefined : freezes.get(row.freeze_id)]));
}

/** The users below a parent, deleted ones included, or the named one of them, in id order. */
export async function findAnyUsers(
  db: Reader,
  { parentId, only }: { readonly parentId: UserId; readonly only: UserId | undefined },
): Promise<readonly AnyUser[]> {
  const children = db
    .selectFrom("users")
    .select([...COLUMNS, "deleted_at"])
    .where("parent_id", "=", parentId);
  const rows = await (only === undefined ? children : children.where("id", "=", only)).orderBy("id").execute();
  return rows.map((row) => ({ ...toUser(row), deletedAt: row.deleted_at ?? undefined }));
}

function liveUsers(db: Reader) {
  return db.selectFrom("users").select(COLUMNS).where("deleted_at", "is", null);
}

type UserRow = Awaited<ReturnType<ReturnType<typeof liveUsers>["executeTakeFirstOrThrow"]>>;

function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    isEmailProven: row.email_proven_at !== null,
    username: row.username,
    fullname: row.fullname,
    parentId: row.parent_id ?? undefined,
    isAdmin: row.is_admin,
    isHostOnly: row.is_host_only,
    isTeam: row.is_team,
    sshKey: row.ssh_key,
    billing: {
      line1: row.billaddress_line1,
      line2: row.billaddress_line2,
      city: row.billaddress_city,
      zip: row.billaddress_zip,
      country: row.billaddress_country,
      taxinfo: row.taxinfo,
    },
    balanceThresholdNanos: nanos(row.balance_threshold_nanos),
    trafficLimitNanos: row.traffic_limit_nanos === null ? undefined : nanos(row.traffic_limit_nanos),
    isBalanceThresholdEnabled: row.balance_threshold_enabled,
    hasTfa: row.tfa_enabled_at !== null,
    createdAt: row.created_at,
  };
}
