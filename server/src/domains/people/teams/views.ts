import { epochSeconds } from "../../../base/clock.ts";
import {
  EVERYTHING,
  isDefaultRole,
  viewApiKey,
  viewBalance,
  type ApiKey,
  type BalanceView,
  type Membership,
} from "../accounts/for-teams.ts";
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

/** The keys of a team by the ids of their holders' roles, as newer clients read them, and in a list for older ones. */
export function viewTeamKeys(keys: readonly ApiKey[], members: readonly TeamMember[]) {
  const byRole: Record<string, ReturnType<typeof viewTeamKey>[]> = {};
  for (const { id, username, role } of members) {
    const held = keys.filter(({ memberId }) => memberId === id).map((key) => viewTeamKey(key, username, role.name));
    if (held.length > 0) byRole[String(role.id)] = [...(byRole[String(role.id)] ?? []), ...held];
  }
  const none = keys.length === 0 ? { msg: "No active team API keys found." } : {};
  return {
    ...{ success: keys.length > 0, ...none },
    ...{ keys_found: keys.length, keys: byRole, apikeys: keys.map(viewApiKey) },
  };
}

function viewTeamKey({ id, userId, memberId, createdAt }: ApiKey, username: string, roleName: string) {
  return {
    id,
    user_id: memberId ?? userId,
    username,
    key: "" as const,
    key_type: "api" as const,
    created_at: epochSeconds(createdAt),
    role_name: roleName,
  };
}
