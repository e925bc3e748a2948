export type { SharedSettings } from "./rules/settings.ts";
export {
  admitStart,
  enterServer,
  noteAdminKey,
  planAdminKey,
  StartRefused,
  wrongSecret,
  type AdminKeyPlan,
} from "./start-service.ts";
export { proveServer, readServerProof } from "./server-proof.ts";
export { findServerAddress, readInstallation, type ServerDescription } from "./store.ts";
export { findOlderServers } from "./older-servers.ts";
export { SAY_ALIVE_LOOP, ThisServer, type ServerPorts } from "./this-server.ts";
export { noteRestore } from "./restore-service.ts";
export { listKeptInstances, RESTORE_FRESH_MS } from "./restore-store.ts";
