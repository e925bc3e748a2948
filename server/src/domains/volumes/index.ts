export { planVolumeLink } from "./link-service.ts";
export { networkVolumeRoutes } from "./network-routes.ts";
export { listMachinesOfVolume } from "./place-service.ts";
export { volumeRoutes } from "./routes.ts";
export { VolumeInfo } from "./schema.ts";
export { listDesiredVolumes, recordVolumes } from "./host-service.ts";
export { VOLUMES_CHANNEL } from "./host-store.ts";
export { attachVolumes, detachVolumes, listMounts, listFilling, lockSharedVolumes, type Filling } from "./service.ts";
