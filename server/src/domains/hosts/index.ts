export { AgentGateway } from "./agent-gateway.ts";
export type { ReceivedReport } from "./agent-session.ts";
export type { Machine, MachineDescription, ScheduledMachine } from "./machine.ts";
export { hashToken, issueAgentToken, leaseEnd, registerMachine } from "./service.ts";
export {
  describeMachines,
  disconnectAll,
  findCredential,
  listMachines,
  listMachinesWithExpiredLease,
  listScheduledMachines,
  lockMachines,
  markDisconnected,
  touchMachines,
} from "./store.ts";
