// Exports that only assembly uses.
export { listMailboxes } from "./users/address-store.ts";
export { bootstrapAdmin, hasAdministrator } from "./admin/bootstrap.ts";
export { API_KEYS_CHANNEL, createIdentities } from "./keys/identities.ts";
export { listIdentitiesOfKeys } from "./keys/identity-store.ts";
export { ACTS_FLUSH_MS, createActLog, type ActLog } from "./audit-log/act-log.ts";
export { createIpHistory, IP_HISTORY_FLUSH_MS, type IpHistory } from "./ip-history/ip-history.ts";
export { setAccountLimits, type AccountLimits } from "./users/limit-store.ts";
export { accountRoutes } from "./routes.ts";
export type { ReadUserFacts } from "./views.ts";
export { collectAccountData, eraseAccountData } from "./users/personal-data-store.ts";
