export { BYTES_PER_GB } from "./listing.ts";
export {
  extendLocalVolumes,
  hasLocalVolumes,
  listSpaceOf,
  listSpaceWith,
  moveSpaceEnd,
  unlistSpaceOf,
  type SpaceOf,
} from "./companion-service.ts";
export { concludeClones, refuseIncomplete } from "./clone-service.ts";
export {
  listStoredVolumes,
  listVolumeCosts,
  listVolumeIdsOfScope,
  listVolumeOwners,
  type StoredVolume,
} from "./rate-store.ts";
export { lockLinkedVolumes, newVolumeNanosPerHour, planVolumeLink, requireVolumes } from "./link-service.ts";
export { placeVolumes, type BillableVolume } from "./metering-service.ts";
export {
  listChargeableVolumes,
  lockDueVolumes,
  markVolumesSettled,
  postponeFirstDueVolume,
  type ChargeableVolume,
} from "./metering-store.ts";
export { networkVolumeRoutes } from "./network-routes.ts";
export { endUnusedVolumes, endVolumesOf } from "./end-service.ts";
export { volumeLoops } from "./loops.ts";
export { listMachinesOfVolume } from "./place-service.ts";
export { volumeRoutes } from "./routes.ts";
export { SpaceTable } from "./space-table.ts";
export { listRentableSpace } from "./local-service.ts";
export { VolumeInfo } from "./schema.ts";
export { listDesiredVolumes, recordVolumes } from "./host-service.ts";
export { VOLUMES_CHANNEL } from "./host-store.ts";
export {
  attachVolumes,
  detachVolumes,
  listMounts,
  listFilling,
  lockSharedVolumes,
  lockVolumesOf,
  type Filling,
} from "./service.ts";
export {
  listAuditedVolumes,
  listUnscheduledVolumes,
  listVolumePlaces,
  listVolumesSince,
  scheduleVolumeSettlement,
  type AuditedVolume,
} from "./audit-store.ts";
export { countStorageOf } from "./belongings-store.ts";
