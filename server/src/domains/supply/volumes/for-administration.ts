// Exports that only administration uses.
export { countStorageOf } from "./belongings-store.ts";
export { searchVolumes } from "./found-store.ts";
