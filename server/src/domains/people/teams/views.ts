import { EVERYTHING, isDefaultRole, viewBalance, type BalanceView, type Membership } from "../accounts/for-teams.ts";
import type { TeamMember, TeamRole } from "../accounts/for-teams.ts";
import type { UserId } from "../../../base/ids.ts";

/** A member with both the documented list of roles and the single role that some clients read. */
export function viewMember({ id, username, email, fullname, role }: TeamMember) {
  return { id, username, email, fullname, roles: [role.name], role: role.name };
}

/** A role that a team made has no identifier of its own in the API, though it can be named by it. */
export function viewRole({ id, name, identifier, permissions }: TeamRole) {
  const known = isDefaultRole(identifier) ? identifier : null;
  return { id, name, identifier: known, permissions: permissions ?? EVERYTHING };
}

export function viewMembership({ teamId, teamName, role }: Membership) {
  return { id: teamId, team_name: teamName, role: role.name, is_owner: role.identifier === "owner" };
}

export function viewTeamBalance(team: { readonly id: UserId; readonly name: string }, balance: BalanceView) {
  return { team_id: team.id, team_name: team.name, ...viewBalance(balance) };
}
