// Exports that only assembly uses.
export { concludeClones } from "./clones/service.ts";
export { networkVolumeRoutes } from "./network/routes.ts";
export { volumeLoops } from "./loops.ts";
export { volumeRoutes } from "./routes.ts";
export { SpaceTable } from "./offers/space-table.ts";
export { inventSpace, listRentableSpace } from "./local/service.ts";
export { VOLUMES_CHANNEL } from "./machines/store.ts";
export { countStorageOf } from "./belongings-store.ts";
