export { AgentGateway, type AgentPorts } from "./agent-gateway.ts";
export type { Device, Machine } from "./machine.ts";
export { HEARTBEAT_MS, hashToken, issueAgentToken, LEASE_MS, registerMachine } from "./service.ts";
export {
  disconnectAll,
  findCredential,
  listMachines,
  listMachinesWithExpiredLease,
  lockMachines,
  setConnected,
  touchMachines,
  type Credential,
} from "./store.ts";
