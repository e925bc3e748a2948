export { planVolumeLink } from "./link-service.ts";
export { networkVolumeRoutes } from "./network-routes.ts";
export { volumeRoutes } from "./routes.ts";
export { VolumeInfo } from "./schema.ts";
export { attachVolumes, detachVolumes, listMounts, type Mount } from "./service.ts";
