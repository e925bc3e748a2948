import { sql } from "kysely";
import type { Freeze } from "../../../base/identity.ts";
import type { AccountFreezeId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** A freeze of an account and its subaccounts, open or lifted. */
export type AccountFreeze = Freeze & {
  /** The frozen account; its subaccounts are frozen by the same freeze. */
  readonly userId: UserId;
  readonly frozenBy: UserId;
  readonly frozenAt: Date;
  /** The lift of the freeze; undefined while it is open. */
  readonly lifted: { readonly by: UserId; readonly at: Date; readonly reason: string } | undefined;
};

/** The id of the new freeze; undefined when the account has an open one of its own. */
export async function insertFreeze(
  tx: Tx,
  { userId, reason, frozenBy }: Pick<AccountFreeze, "userId" | "reason" | "frozenBy">,
): Promise<AccountFreezeId | undefined> {
  const row = await tx.db
    .insertInto("account_freezes")
    .values({
      user_id: userId,
      reason,
      frozen_by: frozenBy,
      frozen_at: tx.now,
      request_id: tx.origin?.requestId ?? "",
    })
    .onConflict((conflict) => conflict.column("user_id").where("lifted_at", "is", null).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const content = { user: userId, reason, frozen_by: frozenBy, is_open: true, is_in_force: true };
  tx.noteFact({ kind: "freeze", subject: String(row.id), content });
  return row.id;
}

/** Lifts an open freeze; undefined when it is already lifted, or does not exist. */
export async function storeLift(
  tx: Tx,
  { id, by, reason }: { readonly id: AccountFreezeId; readonly by: UserId; readonly reason: string },
): Promise<AccountFreeze | undefined> {
  const row = await tx.db
    .updateTable("account_freezes")
    .set({ lifted_by: by, lifted_at: tx.now, lift_reason: reason, lift_request_id: tx.origin?.requestId ?? "" })
    .where("id", "=", id)
    .where("lifted_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { user_id: user, reason: why, frozen_by: frozenBy } = row;
  const content = { user, reason: why, frozen_by: frozenBy, is_open: false, is_in_force: false, lifted_by: by };
  tx.noteFact({ kind: "freeze", subject: String(id), content: { ...content, lift_reason: reason } });
  return toAccountFreeze(row);
}

/** An account with all accounts below it, each with its depth below the first. */
const familyOf = (userId: UserId) => sql`
  family as (
    select id, 0 as depth from users where id = ${userId}::integer
    union all
    select u.id, family.depth + 1 from users u join family on u.parent_id = family.id
  )
`;

/**
 * Locks an account, all accounts below it and the teams that one of them is a member of, until the commit, because
 * their freeze changes: waits for transactions that store something for them, and later ones see the freeze.
 */
export async function lockWithSubaccounts(tx: Tx, userId: UserId): Promise<void> {
  await sql`
    with recursive ${familyOf(userId)}
    select id from users where id in (
      select id from family union select team_id from team_members where member_id in (select id from family)
    ) order by id for update
  `.execute(tx.db);
}

/**
 * Stores at an account and all accounts below it which open freeze holds for each: its own, or that of the nearest
 * frozen account above it. A team is frozen with the last of its members. Returns the accounts for which that changed,
 * and whether they are frozen now. The caller holds their locks (`lockWithSubaccounts`).
 */
export async function followFreezes(tx: Tx, userId: UserId): Promise<ReadonlyMap<UserId, boolean>> {
  const changed = new Map<UserId, boolean>();
  // Level by level from the top, since each account inherits the freeze of the one above it.
  const levels = await listLevels(tx, userId);
  for (const ids of levels) {
    const { rows } = await sql<{ id: UserId; is_frozen: boolean }>`
      update users u set freeze_id = holds.freeze_id
      from (
        select u.id, coalesce(own.id, parent.freeze_id) as freeze_id
        from users u
        left join account_freezes own on own.user_id = u.id and own.lifted_at is null
        left join users parent on parent.id = u.parent_id
        where u.id = any(${ids}::integer[]) and u.deleted_at is null
      ) as holds
      where u.id = holds.id and u.freeze_id is distinct from holds.freeze_id
      returning u.id, u.freeze_id is not null as is_frozen
    `.execute(tx.db);
    for (const row of rows) changed.set(row.id, row.is_frozen);
  }
  for (const row of await followIntoTeams(tx, levels.flat())) changed.set(row.id, row.is_frozen);
  return changed;
}

/** Freezes teams all of whose members are frozen: no member is left who could act for them, or would be harmed. */
async function followIntoTeams(tx: Tx, accountIds: readonly UserId[]) {
  const { rows } = await sql<{ id: UserId; is_frozen: boolean }>`
    update users u set freeze_id = holds.freeze_id
    from (
      select t.team_id as id, coalesce(own.id, case when bool_and(m.freeze_id is not null) then
        coalesce(min(m.freeze_id) filter (where r.identifier = 'owner'), min(m.freeze_id)) end) as freeze_id
      from team_members t
      join users m on m.id = t.member_id and m.deleted_at is null
      join team_roles r on r.id = t.role_id
      left join account_freezes own on own.user_id = t.team_id and own.lifted_at is null
      where t.team_id = any(${[...accountIds]}::integer[]) or t.team_id in (
        select team_id from team_members where member_id = any(${[...accountIds]}::integer[])
      )
      group by t.team_id, own.id
    ) as holds
    where u.id = holds.id and u.deleted_at is null and u.freeze_id is distinct from holds.freeze_id
    returning u.id, u.freeze_id is not null as is_frozen
  `.execute(tx.db);
  return rows;
}

/** Teams that these accounts own and that are not frozen, because they have other members. */
export async function listUnfrozenTeamsOf(db: Reader, userIds: readonly UserId[]): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select u.id from team_members t
    join team_roles r on r.id = t.role_id and r.identifier = 'owner'
    join users u on u.id = t.team_id and u.deleted_at is null and u.freeze_id is null
    where t.member_id = any(${[...userIds]}::integer[])
    order by u.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

async function listLevels(tx: Tx, userId: UserId): Promise<readonly (readonly UserId[])[]> {
  const { rows } = await sql<{ ids: readonly UserId[] }>`
    with recursive ${familyOf(userId)}
    select array_agg(id order by id) as ids from family group by depth order by depth
  `.execute(tx.db);
  return rows.map(({ ids }) => ids);
}

/** The freezes behind these ids, with the reasons that stopped users see. */
export async function findFreezes(
  db: Reader,
  ids: readonly AccountFreezeId[],
): Promise<ReadonlyMap<AccountFreezeId, Freeze>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("account_freezes").select(["id", "reason"]).where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The newest freezes, or the newest that are open. */
export async function listFreezes(
  db: Reader,
  { isOpen, limit }: { readonly isOpen: boolean; readonly limit: number },
): Promise<readonly AccountFreeze[]> {
  const query = db.selectFrom("account_freezes").select(COLUMNS);
  const wanted = isOpen ? query.where("lifted_at", "is", null) : query;
  return (await wanted.orderBy("id", "desc").limit(limit).execute()).map(toAccountFreeze);
}

/** Freezes of one account itself, the newest first. */
export async function listFreezesOf(db: Reader, userId: UserId, limit: number): Promise<readonly AccountFreeze[]> {
  const query = db.selectFrom("account_freezes").select(COLUMNS).where("user_id", "=", userId);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toAccountFreeze);
}

export async function findOpenFreeze(db: Reader, id: AccountFreezeId): Promise<AccountFreeze | undefined> {
  const row = await db
    .selectFrom("account_freezes")
    .select(COLUMNS)
    .where("id", "=", id)
    .where("lifted_at", "is", null)
    .executeTakeFirst();
  return row && toAccountFreeze(row);
}

/** The open freeze of this account itself, not of its parent. */
export async function findOwnFreeze(db: Reader, userId: UserId): Promise<AccountFreeze | undefined> {
  const row = await db
    .selectFrom("account_freezes")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("lifted_at", "is", null)
    .executeTakeFirst();
  return row && toAccountFreeze(row);
}

/** All accounts for which a freeze holds, or those among `among`; in id order. */
export async function listFrozenIds(db: Reader, among?: readonly UserId[]): Promise<readonly UserId[]> {
  const query = db.selectFrom("users").select("id").where("freeze_id", "is not", null).where("deleted_at", "is", null);
  const wanted = among === undefined ? query : query.where("id", "=", sql<UserId>`any(${[...among]}::integer[])`);
  const rows = await wanted.orderBy("id").execute();
  return rows.map((row) => row.id);
}

/** All freezes, in the form that the last fact of each must state. */
export async function listStatedFreezes(db: Reader) {
  const { rows } = await sql<{
    readonly id: number;
    readonly user_id: number;
    readonly reason: string;
    readonly is_open: boolean;
    readonly is_in_force: boolean;
  }>`
    select f.id, f.user_id, f.reason, f.lifted_at is null as is_open,
      f.lifted_at is null and (u.freeze_id is not distinct from f.id or u.deleted_at is not null) as is_in_force
    from account_freezes f join users u on u.id = f.user_id
    order by f.id
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    says: { user: row.user_id, reason: row.reason, is_open: row.is_open, is_in_force: row.is_in_force },
  }));
}

const COLUMNS = ["id", "user_id", "reason", "frozen_by", "frozen_at", "lifted_by", "lifted_at", "lift_reason"] as const;

type FreezeRow = {
  readonly id: AccountFreezeId;
  readonly user_id: UserId;
  readonly reason: string;
  readonly frozen_by: UserId;
  readonly frozen_at: Date;
  readonly lifted_by: UserId | null;
  readonly lifted_at: Date | null;
  readonly lift_reason: string | null;
};

function toAccountFreeze(row: FreezeRow): AccountFreeze {
  const { lifted_by: by, lifted_at: at, lift_reason: reason } = row;
  return {
    id: row.id,
    userId: row.user_id,
    reason: row.reason,
    frozenBy: row.frozen_by,
    frozenAt: row.frozen_at,
    lifted: by === null || at === null || reason === null ? undefined : { by, at, reason },
  };
}
