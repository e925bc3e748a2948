export { recordAudit, type AuditActor } from "./audit-store.ts";
export { bootstrapAdmin } from "./bootstrap.ts";
export { findUserByEmailOrId, requireUser, resolveUserId } from "./find-user.ts";
export { API_KEYS_CHANNEL, createIdentities } from "./identities.ts";
export { createIpHistory, IP_HISTORY_FLUSH_MS, type IpHistory } from "./ip-history.ts";
export { deleteInstanceKeys, insertInstanceKeys } from "./key-store.ts";
export { newKey, type NewKey, type RandomBytes } from "./keys.ts";
export { findUserIds } from "./recipient-store.ts";
export {
  copySshKeys,
  deleteInstanceSshKeys,
  listInstanceSshKeys,
  type InstanceSshKey,
} from "./instance-ssh-key-store.ts";
export { listSecrets } from "./secret-store.ts";
export { attachSshKey, detachSshKey } from "./ssh-key-service.ts";
export type { User } from "./user.ts";
export { accountRoutes } from "./routes.ts";
