// Exports that only audit uses.
export { isVolumeHold, listVolumeHolds } from "./metering/store.ts";
export {
  listAuditedVolumes,
  listLateVolumes,
  listUnscheduledVolumes,
  listVolumePlaces,
  listVolumesSince,
  scheduleVolumeSettlement,
  type AuditedVolume,
} from "./audit-store.ts";
