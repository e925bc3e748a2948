import { AppError, forbidden, invalid, notFound } from "../../../base/errors.ts";
import type { Caller, PermissionDocument } from "../../../base/identity.ts";
import type { TeamRoleId, UserId } from "../../../base/ids.ts";
import { isUniqueViolation } from "../../../db/sql-state.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  deleteRole,
  identifierOf,
  insertRole,
  isDefaultRole,
  listMembers,
  listRoles,
  parsePermissions,
  updateRole,
  type TeamRole,
} from "../accounts/for-teams.ts";
import { recordAudit, type Identities } from "../accounts/index.ts";
import { lockOwnTeam, parseName, requireWithin } from "./authority.ts";
import { deleteInvitations } from "./invitation-store.ts";

/** Roles per team, default ones included. */
const ROLES_MAX = 50;

/** A role as a request names it: by its name in any case, its identifier, or its number. */
export type RoleName = { readonly name: string } | { readonly id: number };

type RoleContent = { readonly name: string | undefined; readonly permissions: unknown };

/**
 * Throws `not_found` when the team has no such role. A name takes precedence over an identifier that is spelled like
 * it.
 */
export async function findNamedRole(db: Reader, teamId: UserId, asked: RoleName): Promise<TeamRole> {
  const roles = await listRoles(db, teamId);
  const found =
    "id" in asked
      ? roles.find(({ id }) => id === asked.id)
      : (roles.find(({ name }) => isSameName(name, asked.name)) ??
        roles.find(({ identifier }) => identifier === asked.name.trim()));
  if (found === undefined) throw noSuchRole();
  return found;
}

/** Creates a role with the requested permissions, which must be within those of the calling key. */
export async function createRole(tx: Tx, { identity, ipAddress }: Caller, asked: RoleContent): Promise<TeamRole> {
  const { team } = await lockOwnTeam(tx, identity);
  const name = parseName(asked.name, "name");
  const permissions = readPermissions(asked.permissions);
  requireWithin(identity, permissions, "The role");
  const roles = await listRoles(tx.db, team.id);
  if (roles.length >= ROLES_MAX)
    throw new AppError("invalid", "too_many_roles", `A team has at most ${ROLES_MAX} roles.`);
  refuseTakenName(roles, name, undefined);
  const identifier = identifierOf(name, new Set(roles.map((role) => role.identifier)));
  const id = await insertRole(tx, team.id, { name, identifier, permissions }).catch(nameTaken);
  const args = { role_id: id, name, permissions };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.create_role", args });
  return { id, name, identifier, permissions };
}

/** Changes name and permissions of a role for all its members; absent fields stay. */
export async function changeRole(
  tx: Tx,
  { identity, ipAddress }: Caller,
  asked: RoleContent & { readonly id: TeamRoleId | undefined },
  identities: Identities,
): Promise<TeamRole> {
  const { team } = await lockOwnTeam(tx, identity);
  const roles = await listRoles(tx.db, team.id);
  const role = roles.find(({ id }) => id === asked.id);
  if (role === undefined) throw noSuchRole();
  refuseDefault(role, "change");
  const name = asked.name === undefined ? role.name : parseName(asked.name, "name");
  const permissions = readPermissions(asked.permissions ?? role.permissions);
  requireWithin(identity, role.permissions, "The role");
  requireWithin(identity, permissions, "The role");
  refuseTakenName(roles, name, role.id);
  await updateRole(tx, team.id, { id: role.id, name, permissions }).catch(nameTaken);
  const args = { role_id: role.id, name, permissions };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.update_role", args });
  tx.afterCommit(() => identities.forgetUser(team.id));
  return { ...role, name, permissions };
}

/** Deletes a role without members; invitations to it are cancelled. */
export async function removeRole(tx: Tx, { identity, ipAddress }: Caller, asked: RoleName): Promise<void> {
  const { team } = await lockOwnTeam(tx, identity);
  const role = await findNamedRole(tx.db, team.id, asked);
  refuseDefault(role, "delete");
  requireWithin(identity, role.permissions, "The role");
  const members = await listMembers(tx.db, team.id);
  const holderCount = members.filter((member) => member.role.id === role.id).length;
  if (holderCount > 0) {
    const who = holderCount === 1 ? "One member has" : `${holderCount} members have`;
    throw new AppError("invalid", "role_in_use", `${who} the role ${role.name}. Give them another one first.`);
  }
  await deleteInvitations(tx, team.id, role.id);
  await deleteRole(tx, team.id, role.id);
  const args = { role_id: role.id, name: role.name };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.delete_role", args });
}

function readPermissions(value: unknown): PermissionDocument {
  if (value === undefined) {
    throw invalid("permissions", "Missing permissions parameter", "missing_permissions");
  }
  return parsePermissions(value);
}

function refuseDefault({ identifier, name }: TeamRole, verb: "change" | "delete"): void {
  if (identifier === "owner") throw forbidden(`You cannot ${verb} the owner role.`, "forbidden");
  if (isDefaultRole(identifier)) throw forbidden(`You cannot ${verb} the default role ${name}.`, "forbidden");
}

function refuseTakenName(roles: readonly TeamRole[], name: string, ownId: TeamRoleId | undefined): void {
  const isTaken = roles.some((role) => role.id !== ownId && isSameName(role.name, name));
  if (isTaken) throw nameExists();
}

/** The database decides which names differ only in case. */
function nameTaken(error: unknown): never {
  throw isUniqueViolation(error, "team_roles_name") ? nameExists() : error;
}

function nameExists(): AppError {
  return invalid("name", "Role name already exists", "role_name_exists");
}

function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.normalize("NFC").trim().toLowerCase();
}

function noSuchRole(): AppError {
  return notFound("not_found", "Specified role not found");
}
