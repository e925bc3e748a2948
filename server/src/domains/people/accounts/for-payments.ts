// Exports that only payments uses.
export { listAddresses } from "./users/address-store.ts";
export { listAutobilled, listBalanceThresholds, setBalanceThreshold } from "./users/balance-threshold-store.ts";
