export { BYTES_PER_GB } from "./offers/rules/listing.ts";
export {
  extendLocalVolumes,
  hasLocalVolumes,
  listSpaceOf,
  listSpaceWith,
  moveSpaceEnd,
  unlistSpaceOf,
  type SpaceOf,
} from "./local/companion-service.ts";
export { listDearSpace, lowerNetworkSpacePrices, lowerSpacePrices } from "./offers/ceiling-store.ts";
export { concludeClones, refuseIncomplete } from "./clones/service.ts";
export {
  listStoredVolumes,
  listVolumeCosts,
  listVolumeIdsOfScope,
  listVolumeOwners,
  type StoredVolume,
} from "./metering/rate-store.ts";
export { lockLinkedVolumes, newVolumeNanosPerHour, planVolumeLink, requireVolumes } from "./links/service.ts";
export { placeVolumes, type BillableVolume } from "./metering/service.ts";
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
} from "./metering/store.ts";
export { HOLD_PERIODS, volumeHoldAmount } from "./metering/volume-hold.ts";
export { networkVolumeRoutes } from "./network/routes.ts";
export { endUnusedVolumes, endVolumesOf } from "./end-service.ts";
export { volumeLoops } from "./loops.ts";
export { listMachinesOfVolume } from "./machines/place-service.ts";
export { volumeRoutes } from "./routes.ts";
export { SpaceTable } from "./offers/space-table.ts";
export { listRentableSpace } from "./local/service.ts";
export { VolumeInfo } from "./schema.ts";
export { listDesiredVolumes, recordVolumes } from "./machines/service.ts";
export { VOLUMES_CHANNEL } from "./machines/store.ts";
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
export { unlistLocalSpaceOf } from "./local/store.ts";
export { unlistNetworkSpaceOf } from "./network/store.ts";
