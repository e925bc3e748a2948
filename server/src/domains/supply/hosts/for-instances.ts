// Exports that only instances uses.
export { updateHealth, type ReportedHealth } from "./machines/device-store.ts";
export type { ReceivedReport } from "./sessions/agent-session.ts";
export type { UnstoredCounters } from "./sessions/session-news.ts";
export type { GpuUse } from "./sessions/rules/gpu-report.ts";
export { lengthMs } from "./presence/rules/coverage.ts";
export { findProvenPlace } from "./sessions/connection-store.ts";
export { reclaimConnections } from "./sessions/server-end-store.ts";
export { findAllowedMachines, findBarredImages, type AllowedMachines } from "./registries/service.ts";
export { notifyMachines } from "./market-channel-store.ts";
export { leaseEnd } from "./service.ts";
export { listMachinesWithExpiredLease, lockHeardMachines, touchMachines, type HeardMachine } from "./store.ts";
export { recordFailedStarts, recordUnansweredStarts, type FailedStart } from "./starts/start-service.ts";
export { recordBegunStarts } from "./starts/start-store.ts";
export type { RentalsInSql } from "./presence/presence-store.ts";
export { listUplinks, type Uplink } from "./presence/span-store.ts";
export { listOperated } from "./trust/store.ts";
export { flagHost } from "./flags/service.ts";
