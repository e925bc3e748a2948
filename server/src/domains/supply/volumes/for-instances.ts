// Exports that only instances uses.
export { countLiveVolumes } from "./room-store.ts";
export { refuseIncomplete } from "./clones/service.ts";
export { lockLinkedVolumes, newVolumeNanosPerHour, planVolumeLink, requireVolumes } from "./links/service.ts";
export { listMachinesOfVolume } from "./machines/place-service.ts";
export { VolumeInfo } from "./schema.ts";
export { listDesiredVolumes, recordVolumes } from "./machines/service.ts";
export {
  attachVolumes,
  detachVolumes,
  listMounts,
  listFilling,
  lockSharedVolumes,
  lockVolumesOf,
  type Filling,
} from "./service.ts";
