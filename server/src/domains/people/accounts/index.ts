export { tellAdministrators } from "./administrators.ts";
export { listAddresses, listMailboxes } from "./address-store.ts";
export { recordAudit, type AuditActor } from "./audit-store.ts";
export {
  findNextEventId,
  listEventBuckets,
  listEventIds,
  listEventTexts,
  listToldTransferBuckets,
  listToldTransferIds,
  listToldTransfers,
} from "./event-audit-store.ts";
export { listAutobilled, listBalanceThresholds, setBalanceThreshold } from "./balance-threshold-store.ts";
export { bootstrapAdmin, hasAdministrator } from "./bootstrap.ts";
export { requireProven } from "./email-service.ts";
export { findProvenUser, findUserByEmailOrId, requireUser, resolveUserId } from "./find-user.ts";
export { API_KEYS_CHANNEL, createIdentities, type Identities } from "./identities.ts";
export { createIpHistory, IP_HISTORY_FLUSH_MS, type IpHistory } from "./ip-history.ts";
export {
  deleteInstanceKeys,
  deleteTeamKeys,
  hasApiKey,
  listKeyIdsEver,
  insertApiKey,
  insertInstanceKeys,
  listTeamKeys,
} from "./key-store.ts";
export { newKey, type NewKey, type RandomBytes } from "./rules/keys.ts";
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
} from "./member-store.ts";
export { isWithin, parsePermissions, type Permissions } from "./rules/permissions.ts";
export { parseEmail, UNFIT } from "./profile.ts";
export { findRecipients, type Recipient } from "./recipient-store.ts";
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
export { accountGone, requireAccount } from "./require-account.ts";
export { EVERYTHING, identifierOf, isDefaultRole } from "./rules/roles.ts";
export { ApiKeyRecord } from "./schema.ts";
export {
  copySshKeys,
  deleteInstanceSshKeys,
  listInstanceSshKeys,
  type InstanceSshKey,
} from "./instance-ssh-key-store.ts";
export { listSecrets } from "./secret-store.ts";
export { attachSshKey, detachSshKey } from "./ssh-key-service.ts";
export { closeTeamAccount, openTeamAccount } from "./team-account.ts";
export { notForTeams, type User } from "./rules/user.ts";
export type { Caller } from "./user-service.ts";
export { readAccountLimits, setAccountLimits, type AccountLimits } from "./limit-store.ts";
export { requireRoom } from "./room.ts";
export { keepAccounts, lockBelongings, lockUser, updateUser } from "./user-store.ts";
export { viewApiKey, viewBalance, type BalanceView } from "./views.ts";
export { accountRoutes } from "./routes.ts";
export { findUser } from "./user-store.ts";
