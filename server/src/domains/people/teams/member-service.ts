import type { Caller } from "../../../base/identity.ts";
import { AppError, forbidden, notFound } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import {
  deleteMember,
  deleteTeamKeys,
  findMember,
  notForTeams,
  renewCookiesOf,
  setMemberRole,
  type TeamMember,
  type TeamRole,
} from "../accounts/for-teams.ts";
import { recordAudit, type Identities } from "../accounts/index.ts";
import { lockOwnTeam, requireWithin } from "./authority.ts";
import { findNamedRole, type RoleName } from "./role-service.ts";
import type { TeamMeans } from "./team-service.ts";
import { lockTeam } from "./team-store.ts";

/** Removes a person from the team; the person's keys of the team are invalid once this is answered. */
export async function removeMember(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: UserId | undefined,
  { identities, freezeAbandoned }: Pick<TeamMeans, "identities" | "freezeAbandoned">,
): Promise<TeamMember> {
  const { team } = await lockOwnTeam(tx, identity);
  const member = id === undefined ? undefined : await findMember(tx.db, team.id, id);
  if (member === undefined) throw nobodyRemoved();
  if (member.role.identifier === "owner") {
    throw forbidden("Cannot remove the team owner from the team", "owner_stays");
  }
  requireWithin(identity, member.role.permissions, `A ${member.role.name}`);
  // Done first: a concurrent creation of a key for this member is either finished, or finds no member. So no key is
  // left over.
  await deleteMember(tx, team.id, member.id);
  const keyIds = await deleteTeamKeys(tx, team.id, member.id);
  await freezeAbandoned(tx, team.id);
  const args = { removed_id: member.id, role: member.role.identifier, key_ids: keyIds };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.remove_member", args });
  tx.afterCommit(() => identities.forgetUser(team.id));
  return member;
}

/** Ends the caller's own membership in a team, with their keys and sessions of it. The owner stays, or hands the team over. */
export async function leaveTeam(
  tx: Tx,
  { identity, ipAddress }: Caller,
  teamId: UserId | undefined,
  { identities, freezeAbandoned }: Pick<TeamMeans, "identities" | "freezeAbandoned">,
): Promise<UserId> {
  const { userId: memberId, memberId: actingId } = identity;
  if (actingId !== undefined) throw notForTeams("A key of a team leaves no team: use a key of your own.");
  const team = teamId === undefined ? undefined : await lockTeam(tx, teamId);
  const member = team === undefined ? undefined : await findMember(tx.db, team.id, memberId);
  if (team === undefined || member === undefined) throw notFound("no_such_team", "You are a member of no such team.");
  if (member.role.identifier === "owner") {
    throw forbidden("The owner does not leave a team: hand it over first, or delete it.", "owner_stays");
  }
  // Done first, as when somebody else removes the member.
  await deleteMember(tx, team.id, memberId);
  const keyIds = await deleteTeamKeys(tx, team.id, memberId);
  await freezeAbandoned(tx, team.id);
  const args = { team_id: team.id, role: member.role.identifier, key_ids: keyIds };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.leave", args });
  await recordAudit(tx, { userId: team.id, memberId }, { ipAddress, action: "api.team.leave", args });
  tx.afterCommit(() => identities.forgetUser(team.id));
  return team.id;
}

/** Gives a member another role; without a name, that of an ordinary member. It applies to the member's keys at once. */
export async function changeMemberRole(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, role: asked }: { readonly id: UserId | undefined; readonly role: RoleName | undefined },
  identities: Identities,
): Promise<{ readonly member: TeamMember; readonly role: TeamRole }> {
  const { team } = await lockOwnTeam(tx, identity);
  const member = id === undefined ? undefined : await findMember(tx.db, team.id, id);
  if (member === undefined) throw notFound("no_such_member", "The team has no such member.");
  const role = await findNamedRole(tx.db, team.id, asked ?? { name: "member" });
  if (member.role.identifier === "owner") {
    throw new AppError("invalid", "owner_stays", "The owner's role changes when the team is handed over.");
  }
  if (role.id === member.role.id) return { member, role };
  requireAssignable(role);
  requireWithin(identity, member.role.permissions, `A ${member.role.name}`);
  requireWithin(identity, role.permissions, `A ${role.name}`);
  await renewCookiesOf(tx, member.id);
  await setMemberRole(tx, { teamId: team.id, memberId: member.id, roleId: role.id });
  const args = { changed_id: member.id, role: role.identifier, former_role: member.role.identifier };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.set_member_role", args });
  tx.afterCommit(() => identities.forgetUser(team.id));
  return { member, role };
}

/** A team has one owner: the person who created it or to whom it was handed over. */
export function requireAssignable(role: TeamRole): void {
  if (role.identifier === "owner") throw forbidden("The owner role is not given to members.", "forbidden");
}

function nobodyRemoved(): AppError {
  const message = "No user was removed from the team.";
  return notFound("no_such_member", message, { extra: { status: "failure", message } });
}
