export { listStoredVolumes, listVolumeCosts } from "./metering/rate-store.ts";
export { listVolumeNames, type VolumeName } from "./name-store.ts";
export { unlistLocalSpaceOf } from "./local/store.ts";
export { unlistNetworkSpaceOf } from "./network/store.ts";
