// Exports that only instances uses.
export { findIdentityOfKey } from "./keys/identity-store.ts";
export { deleteInstanceKeys, insertInstanceKeys } from "./keys/store.ts";
export type { NewKey } from "./keys/rules/keys.ts";
export { accountGone } from "./users/require-account.ts";
export {
  copySshKeys,
  deleteInstanceSshKeys,
  listInstanceSshKeys,
  type InstanceSshKey,
} from "./ssh-keys/instance-store.ts";
export { listAccountTrafficLimits } from "./users/traffic-limit-store.ts";
export { listSecrets } from "./secrets/store.ts";
export { attachSshKey, detachSshKey, requireSameSshKey, type AttachedKey } from "./ssh-keys/service.ts";
