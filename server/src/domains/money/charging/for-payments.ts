// Exports that only payments uses.
export { listPaidHosts } from "./spending/paid-hosts-store.ts";
