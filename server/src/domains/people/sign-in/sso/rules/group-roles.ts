import type { UserId } from "../../../../../base/ids.ts";
import type { SsoSettings } from "../settings.ts";

/** The roles of a person, by the groups that the issuer names. */
export type WantedRoles = { readonly isAdmin: boolean; readonly teams: ReadonlyMap<UserId, string> };

/** The roles that these groups give. Of two roles for one team, the first in the settings counts. */
export function rolesOf(groups: ReadonlySet<string>, groupRoles: SsoSettings["groupRoles"]): WantedRoles {
  const teams = new Map<UserId, string>();
  let isAdmin = false;
  for (const [group, roles] of groupRoles) {
    if (!groups.has(group)) continue;
    for (const role of roles) {
      if (role.kind === "admin") isAdmin = true;
      else if (!teams.has(role.teamId)) teams.set(role.teamId, role.role);
    }
  }
  return { isAdmin, teams };
}
