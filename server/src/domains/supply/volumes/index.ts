export { BYTES_PER_GB } from "./rules/listing.ts";
export {
  extendLocalVolumes,
  hasLocalVolumes,
  listSpaceOf,
  listSpaceWith,
  moveSpaceEnd,
  unlistSpaceOf,
  type SpaceOf,
} from "./companion-service.ts";
export { listDearSpace, lowerNetworkSpacePrices, lowerSpacePrices } from "./ceiling-store.ts";
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
  isVolumeHold,
  listChargeableVolumes,
  listVolumePayers,
  listVolumeHolds,
  lockDueVolumes,
  lockVolumesWithin,
  markVolumesSettled,
  postponeFirstDueVolume,
  type ChargeableVolume,
} from "./metering-store.ts";
export { HOLD_PERIODS, volumeHoldAmount } from "./volume-hold.ts";
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
  listLateVolumes,
  listUnscheduledVolumes,
  listVolumePlaces,
  listVolumesSince,
  scheduleVolumeSettlement,
  type AuditedVolume,
} from "./audit-store.ts";
export { listVolumeNames, type VolumeName } from "./name-store.ts";
export { countStorageOf } from "./belongings-store.ts";
export { unlistLocalSpaceOf } from "./local-store.ts";
export { unlistNetworkSpaceOf } from "./network-store.ts";
