import { sql } from "kysely";
import type { Session } from "../../../../base/identity.ts";
import { asId, type ApiKeyId, type UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { NewKey } from "./rules/keys.ts";
import type { Permissions } from "./rules/permissions.ts";
import { endSessionsOpenedBy, type KeyHolder } from "./store.ts";

/** A person with more sessions than this loses the oldest. */
const SESSIONS_MAX = 50;

export type StoredSession = KeyHolder & {
  readonly id: ApiKeyId;
  readonly kind: Session["kind"];
  /** The address of its last use. */
  readonly ipAddress: string;
  /** The program and system that used it last, by their own word; undefined where they are not known. */
  readonly browser: string | undefined;
  readonly system: string | undefined;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
};

/** A session of a member who acts for a team. */
export type TeamSession = StoredSession & {
  readonly personId: UserId;
  readonly username: string;
  readonly roleName: string;
};

type SessionInsert = KeyHolder & {
  readonly key: NewKey;
  readonly kind: Session["kind"];
  readonly permissions: Permissions;
  readonly ipAddress: string;
  readonly expiresAt: Date;
  /** The API key that opened the session; absent after a sign-in with a password. */
  readonly openedByKeyId?: ApiKeyId | undefined;
  /** True when destructive operations need another session, which a second factor opened. */
  readonly demandsTfa?: boolean;
};

/**
 * Locks a key of the holder, so that it is deleted before this call or after the commit; the latter ends the sessions that
 * the transaction opens with it. False when it is no live key of the holder.
 */
export async function lockOpener(tx: Tx, { userId, memberId }: KeyHolder, id: ApiKeyId): Promise<boolean> {
  const row = await tx.db
    .selectFrom("api_keys")
    .select("id")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("member_id", "is not distinct from", memberId ?? null)
    .where("deleted_at", "is", null)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** True for a session that another key opened, with which it ends. */
export async function isOpenedByKey(tx: Tx, id: ApiKeyId): Promise<boolean> {
  const query = tx.db.selectFrom("api_keys").select("opened_by_key_id").where("id", "=", id);
  return (await query.executeTakeFirst())?.opened_by_key_id !== null;
}

/** Stores the key of a session. Sessions of its holder beyond the newest end, with those that they opened. */
export async function insertSession(tx: Tx, session: SessionInsert): Promise<ApiKeyId> {
  const { userId, memberId, key, permissions } = session;
  const row = await tx.db
    .insertInto("api_keys")
    .values({
      user_id: userId,
      member_id: memberId ?? null,
      name: "session",
      kind: session.kind,
      key_sha256: key.sha256,
      key_prefix: key.prefix,
      permissions: permissions === undefined ? null : JSON.stringify(permissions),
      ip_address: session.ipAddress,
      opened_by_key_id: session.openedByKeyId ?? null,
      demands_tfa: session.demandsTfa ?? false,
      created_at: tx.now,
      expires_at: session.expiresAt,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await endOldest(tx, session, [row.id, ...(await listOpeners(tx, session.openedByKeyId))]);
  return row.id;
}

/** Ends the sessions of a holder beyond the newest, those that are `needed` last. */
async function endOldest(tx: Tx, holder: KeyHolder, needed: readonly ApiKeyId[]): Promise<void> {
  const kept = heldBy(tx.db, holder)
    .select("id")
    .orderBy((eb) => eb("id", "in", needed), "desc")
    .orderBy("id", "desc")
    .limit(SESSIONS_MAX);
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", holder.userId)
    .where("member_id", "is not distinct from", holder.memberId ?? null)
    .where("kind", "<>", "api")
    .where("deleted_at", "is", null)
    .where("id", "not in", kept)
    .returning(["id", "expires_at"])
    .execute();
  // A session that was over before ended by itself, and sessions that it opened have an end of their own.
  const ended = rows.filter(({ expires_at: expiresAt }) => expiresAt !== null && expiresAt > tx.now);
  await endSessionsOpenedBy(
    tx,
    ended.map(({ id }) => id),
  );
}

/** A key and the keys with which it ends: the one that opened it, the opener of that one, and so on. */
async function listOpeners(tx: Tx, id: ApiKeyId | undefined): Promise<readonly ApiKeyId[]> {
  if (id === undefined) return [];
  const { rows } = await sql<{ readonly id: ApiKeyId }>`
    with recursive openers as (
      select id, opened_by_key_id from api_keys where id = ${id}
      union select k.id, k.opened_by_key_id from api_keys k join openers o on k.id = o.opened_by_key_id
    )
    select id from openers
  `.execute(tx.db);
  return rows.map((row) => row.id);
}

/** The sessions of a holder that are not over, newest first. */
export async function listSessions(db: Reader, holder: KeyHolder, now: Date): Promise<readonly StoredSession[]> {
  const rows = await heldBy(db, holder)
    .leftJoin("session_uses", "session_uses.session_id", "api_keys.id")
    .select(COLUMNS)
    .where("expires_at", ">", now)
    .orderBy("id", "desc")
    .execute();
  return rows.map(toSession);
}

/** The sessions in which members act for a team, newest first. */
export async function listTeamSessions(db: Reader, teamId: UserId, now: Date): Promise<readonly TeamSession[]> {
  const rows = await db
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.member_id")
    .innerJoin("team_members", (join) =>
      join
        .onRef("team_members.team_id", "=", "api_keys.user_id")
        .onRef("team_members.member_id", "=", "api_keys.member_id"),
    )
    .innerJoin("team_roles", "team_roles.id", "team_members.role_id")
    .leftJoin("session_uses", "session_uses.session_id", "api_keys.id")
    .select(COLUMNS)
    .select(["users.id as person_id", "users.username", "team_roles.name as role_name"])
    .where("api_keys.user_id", "=", teamId)
    .where("api_keys.kind", "<>", "api")
    .where("api_keys.deleted_at", "is", null)
    .where("api_keys.expires_at", ">", now)
    .where("users.deleted_at", "is", null)
    .orderBy("api_keys.id", "desc")
    .execute();
  return rows.map((row) => ({
    ...toSession(row),
    personId: row.person_id,
    username: row.username,
    roleName: row.role_name,
  }));
}

/** Ends one session of a holder, or all of them, with the sessions that they opened, and returns the former. */
export async function endSessions(tx: Tx, holder: KeyHolder, which: ApiKeyId | "all"): Promise<readonly ApiKeyId[]> {
  const rows = await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", holder.userId)
    .where("member_id", "is not distinct from", holder.memberId ?? null)
    .where("kind", "<>", "api")
    .where("deleted_at", "is", null)
    .$if(which !== "all", (query) => query.where("id", "=", which as ApiKeyId))
    .returning("id")
    .execute();
  const ids = rows.map(({ id }) => id);
  await endSessionsOpenedBy(tx, ids);
  return ids;
}

/** Ends all sessions of a person, those in teams too, but for one that is kept. */
export async function endSessionsOfPerson(tx: Tx, personId: UserId, keptId: ApiKeyId | undefined): Promise<void> {
  await tx.db
    .updateTable("api_keys")
    .set({ deleted_at: tx.now })
    .where((eb) =>
      eb.or([eb.and([eb("user_id", "=", personId), eb("member_id", "is", null)]), eb("member_id", "=", personId)]),
    )
    .where("kind", "<>", "api")
    .where("deleted_at", "is", null)
    .where("id", "<>", keptId ?? asId<ApiKeyId>(0))
    .execute();
}

const COLUMNS = [
  "api_keys.id",
  "api_keys.user_id",
  "api_keys.member_id",
  "api_keys.kind",
  "api_keys.ip_address",
  "api_keys.created_at",
  "api_keys.expires_at",
  "session_uses.ip_address as used_ip_address",
  "session_uses.browser",
  "session_uses.system",
  "session_uses.last_used_at",
] as const;

function heldBy(db: Reader, { userId, memberId }: KeyHolder) {
  return db
    .selectFrom("api_keys")
    .where("user_id", "=", userId)
    .where("member_id", "is not distinct from", memberId ?? null)
    .where("kind", "<>", "api")
    .where("deleted_at", "is", null);
}

function toSession(row: {
  readonly id: ApiKeyId;
  readonly user_id: UserId;
  readonly member_id: UserId | null;
  readonly kind: string;
  readonly ip_address: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly used_ip_address: string | null;
  readonly browser: string | null;
  readonly system: string | null;
  readonly last_used_at: Date | null;
}): StoredSession {
  return {
    id: row.id,
    userId: row.user_id,
    memberId: row.member_id ?? undefined,
    kind: row.kind === "tfa" ? "tfa" : "session",
    ipAddress: row.used_ip_address ?? row.ip_address ?? "",
    browser: row.browser ?? undefined,
    system: row.system ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? row.created_at,
    // The database refuses a session without an end.
    expiresAt: row.expires_at ?? row.created_at,
  };
}
