import { sql } from "kysely";
import type { Freeze, Identity } from "../../../../base/identity.ts";
import type { ApiKeyId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { HeldSession } from "./cookie-callers.ts";
import { toCookieState } from "./cookie-store.ts";
import { intersect } from "./rules/permissions.ts";
import { permissionsOfRole } from "../team-accounts/rules/roles.ts";
import { readPermissions } from "./store.ts";

/**
 * The identity of a secret; undefined when it was never issued or is deleted, its user is gone, or its holder is no
 * longer a member of the team.
 */
export async function findIdentity(db: Reader, sha256: Buffer): Promise<Identity | undefined> {
  return (await findHeld(db, sha256))?.identity;
}

/** The identity of a secret with the state of its cookie, which is the first one for a key. */
export async function findHeld(db: Reader, sha256: Buffer): Promise<HeldSession | undefined> {
  const row = await liveKeys(db).where("api_keys.key_sha256", "=", sha256).executeTakeFirst();
  const identity = row && shownIdentityOf(row);
  return identity && { identity, cookie: toCookieState(row) };
}

/** The identity that a key has now, for the server itself; undefined in the same cases, and for a session that is over. */
export async function findIdentityOfKey(db: Reader, id: ApiKeyId, now: Date): Promise<Identity | undefined> {
  const row = await liveKeys(db)
    .where("api_keys.id", "=", id)
    .where((eb) => eb.or([eb("api_keys.expires_at", "is", null), eb("api_keys.expires_at", ">", now)]))
    .executeTakeFirst();
  return row && identityOf(row);
}

/** The identities that these keys have now, that of a view for its session; those without one, as above, are left out. */
export async function listIdentitiesOfKeys(
  db: Reader,
  ids: readonly ApiKeyId[],
  now: Date,
): Promise<ReadonlyMap<ApiKeyId, Identity>> {
  const rows = await liveKeys(db)
    .where("api_keys.id", "=", sql<ApiKeyId>`any (${ids}::integer[])`)
    .where((eb) => eb.or([eb("api_keys.expires_at", "is", null), eb("api_keys.expires_at", ">", now)]))
    .execute();
  return new Map(
    rows.flatMap((row) => {
      const identity = shownIdentityOf(row);
      return identity === undefined ? [] : [[row.id, identity] as const];
    }),
  );
}

function liveKeys(db: Reader) {
  return db
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .leftJoin("team_members", (join) =>
      join
        .onRef("team_members.team_id", "=", "api_keys.user_id")
        .onRef("team_members.member_id", "=", "api_keys.member_id"),
    )
    .leftJoin("users as members", (join) =>
      join.onRef("members.id", "=", "team_members.member_id").on("members.deleted_at", "is", null),
    )
    .leftJoin("team_roles", "team_roles.id", "team_members.role_id")
    .leftJoin("session_cookies", "session_cookies.session_id", "api_keys.id")
    .leftJoin("account_views", (join) =>
      join.onRef("account_views.session_id", "=", "api_keys.id").on("account_views.left_at", "is", null),
    )
    .leftJoin("users as seen", "seen.id", "account_views.user_id")
    .leftJoin("account_freezes", "account_freezes.id", "users.freeze_id")
    .leftJoin("account_freezes as member_freezes", "member_freezes.id", "members.freeze_id")
    .select([
      "api_keys.id",
      "api_keys.user_id",
      "api_keys.member_id",
      "api_keys.permissions",
      "api_keys.instance_id",
      "api_keys.kind",
      "api_keys.expires_at",
      "api_keys.demands_tfa",
      "api_keys.created_at",
      "session_cookies.salt",
      "session_cookies.previous_salt",
      "session_cookies.renewed_at",
      "session_cookies.confirmed_at",
      "session_cookies.is_due",
      // In a team the second factor is that of the member who holds the key.
      sql<boolean>`coalesce(members.tfa_enabled_at, users.tfa_enabled_at) is not null`.as("has_tfa"),
      "users.is_admin",
      "account_views.user_id as seen_id",
      "account_views.admin_id as viewer_id",
      "account_views.reason as view_reason",
      "account_views.ends_at as view_ends_at",
      "seen.is_admin as is_seen_admin",
      "seen.deleted_at as seen_deleted_at",
      "members.id as live_member_id",
      "team_roles.identifier as role_identifier",
      "team_roles.permissions as role_permissions",
      "account_freezes.id as freeze_id",
      "account_freezes.reason as freeze_reason",
      "member_freezes.id as member_freeze_id",
      "member_freezes.reason as member_freeze_reason",
    ])
    .where("api_keys.deleted_at", "is", null)
    .where("users.deleted_at", "is", null);
}

type LiveKey = NonNullable<Awaited<ReturnType<ReturnType<typeof liveKeys>["executeTakeFirst"]>>>;

function identityOf(row: LiveKey): Identity | undefined {
  if (row.live_member_id !== row.member_id) return undefined;
  const own = readPermissions(row.permissions);
  return {
    userId: row.user_id,
    apiKeyId: row.id,
    memberId: row.member_id ?? undefined,
    isAdmin: row.is_admin,
    permissions:
      row.role_identifier === null
        ? own
        : intersect(own, permissionsOfRole(row.role_identifier, readPermissions(row.role_permissions) ?? null)),
    instanceId: row.instance_id ?? undefined,
    ...sessionOf(row),
    ...(row.kind !== "tfa" && row.demands_tfa && row.has_tfa ? { demandsTfa: true } : {}),
    ...freezesOf(row),
  };
}

/** The identity of a key; that of the account which its administrator sees, while the session is bound to one. */
function shownIdentityOf(row: LiveKey): Identity | undefined {
  const identity = identityOf(row);
  const { seen_id: userId, viewer_id: adminId, view_reason: reason, view_ends_at: endsAt } = row;
  if (identity === undefined || userId === null || adminId === null || reason === null || endsAt === null) {
    return identity;
  }
  // A view whose administrator is none any more, or whose account may not be seen by now, is over.
  const isFit = row.is_admin && row.is_seen_admin === false && row.seen_deleted_at === null;
  return {
    userId,
    apiKeyId: row.id,
    memberId: undefined,
    isAdmin: false,
    permissions: undefined,
    instanceId: undefined,
    session: identity.session,
    view: { adminId, userId, reason, endsAt: isFit ? endsAt : new Date(0) },
  };
}

function sessionOf({ kind, expires_at: expiresAt }: { readonly kind: string; readonly expires_at: Date | null }) {
  if (expiresAt === null) return {};
  return { session: { kind: kind === "tfa" ? ("tfa" as const) : ("session" as const), expiresAt } };
}

type FrozenRow = {
  readonly freeze_id: Freeze["id"] | null;
  readonly freeze_reason: string | null;
  readonly member_freeze_id: Freeze["id"] | null;
  readonly member_freeze_reason: string | null;
};

function freezesOf(row: FrozenRow): Pick<Identity, "freeze" | "memberFreeze"> {
  const { freeze_id: id, freeze_reason: reason, member_freeze_id: memberId, member_freeze_reason: memberReason } = row;
  return {
    ...(id === null || reason === null ? {} : { freeze: { id, reason } }),
    ...(memberId === null || memberReason === null ? {} : { memberFreeze: { id: memberId, reason: memberReason } }),
  };
}
