// Exports that only limits uses.
export { listVolumeOwners, type StoredVolume } from "./metering/rate-store.ts";
export { endUnusedVolumes, endVolumesOf } from "./end-service.ts";
