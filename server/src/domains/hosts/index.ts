export { admit, noticeClone } from "./admission.ts";
export { AgentGateway } from "./agent-gateway.ts";
export { countGpuFailures, countGpus, listDeviceProblems, updateHealth, type ReportedHealth } from "./device-store.ts";
export type { ReceivedReport } from "./agent-session.ts";
export type { GpuUse } from "./gpu-report.ts";
export { listRevoked, REVOKED_CHANNEL } from "./join-store.ts";
export type { Machine, MachineDescription, ScheduledMachine } from "./machine.ts";
export { confirmProof } from "./proof-store.ts";
export { hostRoutes } from "./routes.ts";
export { hashToken, issueAgentToken, LEASE_MS, leaseEnd, registerMachine } from "./service.ts";
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
export { proofMaker } from "./session-proof.ts";
