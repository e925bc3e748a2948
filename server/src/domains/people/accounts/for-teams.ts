// Exports that only teams uses.
export { requireProven } from "./emails/service.ts";
export { findProvenUser } from "./users/find-user.ts";
export { isDemanding } from "./keys/service.ts";
export { renewCookiesOf } from "./keys/cookie-store.ts";
export { deleteTeamKeys, insertApiKey, listTeamKeys } from "./keys/store.ts";
export {
  deleteMember,
  deleteRole,
  findMember,
  insertMember,
  insertRole,
  listMembers,
  listMemberships,
  listRoles,
  setMemberRole,
  updateRole,
  type Membership,
  type TeamMember,
  type TeamRole,
} from "./team-accounts/member-store.ts";
export { isWithin, parsePermissions, type Permissions } from "./keys/rules/permissions.ts";
export { parseEmail, UNFIT } from "./users/profile.ts";
export { EVERYTHING, identifierOf, isDefaultRole } from "./team-accounts/rules/roles.ts";
export { ApiKeyRecord } from "./schema.ts";
export { closeTeamAccount, openTeamAccount } from "./team-accounts/team-account.ts";
export { notForTeams } from "./users/rules/user.ts";
export { lockBelongings, updateUser } from "./users/store.ts";
export type { ApiKey } from "./keys/store.ts";
export { viewApiKey, viewBalance, type BalanceView } from "./views.ts";
