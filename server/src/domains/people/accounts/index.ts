export { tellAdministrators } from "./admin/administrators.ts";
export { listAddresses, listMailboxes } from "./users/address-store.ts";
export { recordAudit, type AuditActor } from "./audit-log/store.ts";
export {
  findNextEventId,
  listEventBuckets,
  listEventIds,
  listEventTexts,
  listToldTransferBuckets,
  listToldTransferIds,
  listToldTransfers,
} from "./audit-log/audit-store.ts";
export { listAutobilled, listBalanceThresholds, setBalanceThreshold } from "./users/balance-threshold-store.ts";
export { bootstrapAdmin, hasAdministrator } from "./admin/bootstrap.ts";
export { requireProven } from "./emails/service.ts";
export { findProvenUser, findUserByEmailOrId, requireUser, resolveUserId } from "./users/find-user.ts";
export { API_KEYS_CHANNEL, createIdentities, type Identities } from "./keys/identities.ts";
export { createIpHistory, IP_HISTORY_FLUSH_MS, type IpHistory } from "./ip-history/ip-history.ts";
export {
  deleteInstanceKeys,
  deleteTeamKeys,
  hasApiKey,
  listKeyIdsEver,
  insertApiKey,
  insertInstanceKeys,
  listTeamKeys,
} from "./keys/store.ts";
export { newKey, type NewKey, type RandomBytes } from "./keys/rules/keys.ts";
export {
  deleteMember,
  deleteRole,
  findMember,
  findRoleIdentifier,
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
export { findRecipients, type Recipient } from "./users/recipient-store.ts";
export { REPORT_HEADING, viewReportHeading } from "./report-heading.ts";
export {
  findOpenFreeze,
  findOwnFreeze,
  followFreezes,
  insertFreeze,
  listFreezes,
  listFrozenIds,
  listUnfrozenTeamsOf,
  listStatedFreezes,
  lockWithSubaccounts,
  storeLift,
  type AccountFreeze,
} from "./freeze-store.ts";
export { accountGone, requireAccount } from "./users/require-account.ts";
export { EVERYTHING, identifierOf, isDefaultRole } from "./team-accounts/rules/roles.ts";
export { ApiKeyRecord } from "./schema.ts";
export {
  copySshKeys,
  deleteInstanceSshKeys,
  listInstanceSshKeys,
  type InstanceSshKey,
} from "./ssh-keys/instance-store.ts";
export { listSecrets } from "./secrets/store.ts";
export { attachSshKey, detachSshKey } from "./ssh-keys/service.ts";
export { closeTeamAccount, openTeamAccount } from "./team-accounts/team-account.ts";
export { notForTeams, type User } from "./users/rules/user.ts";
export type { Caller } from "./caller.ts";
export { readAccountLimits, setAccountLimits, type AccountLimits } from "./users/limit-store.ts";
export { requireRoom } from "./room.ts";
export { keepAccounts, lockBelongings, lockUser, updateUser } from "./users/store.ts";
export { viewApiKey, viewBalance, type BalanceView } from "./views.ts";
export { accountRoutes } from "./routes.ts";
export { findUser } from "./users/store.ts";
