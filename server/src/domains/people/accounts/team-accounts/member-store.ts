import { sql } from "kysely";
import type { PermissionDocument } from "../../../../base/identity.ts";
import type { TeamRoleId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Permissions } from "../keys/rules/permissions.ts";
import { permissionsOfRole } from "./rules/roles.ts";

export type TeamRole = {
  readonly id: TeamRoleId;
  readonly name: string;
  readonly identifier: string;
  readonly permissions: Permissions;
};

export type TeamMember = {
  readonly id: UserId;
  readonly username: string;
  readonly email: string;
  readonly fullname: string;
  readonly role: TeamRole;
};

/** A person's membership of a team, with the team's name. */
export type Membership = { readonly teamId: UserId; readonly teamName: string; readonly role: TeamRole };

type RoleRow = {
  readonly role_id: TeamRoleId;
  readonly role_name: string;
  readonly identifier: string;
  readonly permissions: unknown;
};

const ROLE_COLUMNS = [
  "team_roles.id as role_id",
  "team_roles.name as role_name",
  "team_roles.identifier",
  "team_roles.permissions",
] as const;

/** The roles of a team, oldest first. */
export async function listRoles(db: Reader, teamId: UserId): Promise<readonly TeamRole[]> {
  const rows = await db
    .selectFrom("team_roles")
    .select(ROLE_COLUMNS)
    .where("team_id", "=", teamId)
    .orderBy("id")
    .execute();
  return rows.map(toRole);
}

/** Inserts a role; undefined `permissions` make a default role, which needs one of the default identifiers. */
export async function insertRole(
  tx: Tx,
  teamId: UserId,
  role: {
    readonly name: string;
    readonly identifier: string;
    readonly permissions: PermissionDocument | undefined;
  },
): Promise<TeamRoleId> {
  const row = await tx.db
    .insertInto("team_roles")
    .values({
      team_id: teamId,
      name: role.name,
      identifier: role.identifier,
      permissions: role.permissions === undefined ? null : JSON.stringify(role.permissions),
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Changes a role; it applies to its members at once. */
export async function updateRole(
  tx: Tx,
  teamId: UserId,
  {
    id,
    name,
    permissions,
  }: { readonly id: TeamRoleId; readonly name: string; readonly permissions: PermissionDocument },
): Promise<void> {
  await tx.db
    .updateTable("team_roles")
    .set({ name, permissions: JSON.stringify(permissions) })
    .where("team_id", "=", teamId)
    .where("id", "=", id)
    .execute();
}

export async function deleteRole(tx: Tx, teamId: UserId, id: TeamRoleId): Promise<void> {
  await tx.db.deleteFrom("team_roles").where("team_id", "=", teamId).where("id", "=", id).execute();
}

/** The members of a team whose accounts are live, in the order in which they joined. */
export async function listMembers(db: Reader, teamId: UserId): Promise<readonly TeamMember[]> {
  const rows = await membersOf(db, teamId).orderBy("joined_at").orderBy("member_id").execute();
  return rows.map(toMember);
}

export async function findMember(db: Reader, teamId: UserId, memberId: UserId): Promise<TeamMember | undefined> {
  const row = await membersOf(db, teamId).where("member_id", "=", memberId).executeTakeFirst();
  return row && toMember(row);
}

/** True when the person is a member of the team; locked until the commit, for a caller that creates a key. */
export async function lockMembership(tx: Tx, teamId: UserId, memberId: UserId): Promise<boolean> {
  const row = await tx.db
    .selectFrom("team_members")
    .select("member_id")
    .where("team_id", "=", teamId)
    .where("member_id", "=", memberId)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** The identifier of the person's role in the team; undefined for a person who is no member. */
export async function findRoleIdentifier(db: Reader, teamId: UserId, memberId: UserId): Promise<string | undefined> {
  const row = await db
    .selectFrom("team_members")
    .innerJoin("team_roles", "team_roles.id", "team_members.role_id")
    .select("team_roles.identifier")
    .where("team_members.team_id", "=", teamId)
    .where("team_members.member_id", "=", memberId)
    .executeTakeFirst();
  return row?.identifier;
}

/** The teams that a person is a member of, by name. */
export async function listMemberships(db: Reader, memberId: UserId): Promise<readonly Membership[]> {
  const rows = await db
    .selectFrom("team_members")
    .innerJoin("team_roles", "team_roles.id", "team_members.role_id")
    .innerJoin("users", "users.id", "team_members.team_id")
    .select(["team_members.team_id", "users.username", ...ROLE_COLUMNS])
    .where("team_members.member_id", "=", memberId)
    .where("users.deleted_at", "is", null)
    .orderBy(sql`lower(users.username)`)
    .execute();
  return rows.map((row) => ({ teamId: row.team_id, teamName: row.username, role: toRole(row) }));
}

/** Inserts a member; false for a person who is a member already. */
export async function insertMember(
  tx: Tx,
  { teamId, memberId, roleId }: { readonly teamId: UserId; readonly memberId: UserId; readonly roleId: TeamRoleId },
): Promise<boolean> {
  const result = await tx.db
    .insertInto("team_members")
    .values({ team_id: teamId, member_id: memberId, role_id: roleId, joined_at: tx.now })
    .onConflict((conflict) => conflict.columns(["team_id", "member_id"]).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function setMemberRole(
  tx: Tx,
  { teamId, memberId, roleId }: { readonly teamId: UserId; readonly memberId: UserId; readonly roleId: TeamRoleId },
): Promise<void> {
  await tx.db
    .updateTable("team_members")
    .set({ role_id: roleId })
    .where("team_id", "=", teamId)
    .where("member_id", "=", memberId)
    .execute();
}

/** Deletes a member; false for a person who is no member. */
export async function deleteMember(tx: Tx, teamId: UserId, memberId: UserId): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("team_members")
    .where("team_id", "=", teamId)
    .where("member_id", "=", memberId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes members and roles of a team that is deleted. */
export async function deleteMembersAndRoles(tx: Tx, teamId: UserId): Promise<void> {
  await tx.db.deleteFrom("team_members").where("team_id", "=", teamId).execute();
  await tx.db.deleteFrom("team_roles").where("team_id", "=", teamId).execute();
}

function membersOf(db: Reader, teamId: UserId) {
  return db
    .selectFrom("team_members")
    .innerJoin("team_roles", "team_roles.id", "team_members.role_id")
    .innerJoin("users", "users.id", "team_members.member_id")
    .select(["team_members.member_id", "users.username", "users.email", "users.fullname", ...ROLE_COLUMNS])
    .where("team_members.team_id", "=", teamId)
    .where("users.deleted_at", "is", null);
}

type MemberRow = Awaited<ReturnType<ReturnType<typeof membersOf>["executeTakeFirstOrThrow"]>>;

function toMember(row: MemberRow): TeamMember {
  const { member_id: id, username, email, fullname } = row;
  return { id, username, email, fullname, role: toRole(row) };
}

function toRole({ role_id: id, role_name: name, identifier, permissions }: RoleRow): TeamRole {
  // Stored documents were returned by parsePermissions.
  const stored = permissions as PermissionDocument | null;
  return { id, name, identifier, permissions: permissionsOfRole(identifier, stored) };
}
