// Exports that only listings uses.
export { listRollingMachines, rollListingEnds } from "./terms/listing-end-store.ts";
export {
  cancelMaintenances,
  cancelOneMaintenance,
  findMaintenances,
  insertMaintenance,
  MAINTENANCE_CATEGORIES,
  type MaintenanceCategory,
  type NewMaintenance,
} from "./trust/maintenance-store.ts";
export { listRestReasons } from "./starts/start-store.ts";
export {
  takeEndingListings,
  takeLostMachines,
  takeReturnedMachines,
  type ToldMachine,
} from "./presence/change-store.ts";
export {
  listHosted,
  listMachineUnder,
  markMachineDeleted,
  setMinBid,
  type HostedMachine,
} from "./terms/terms-store.ts";
export { listDearMachines, lowerMachinePrices } from "./terms/price-ceiling-store.ts";
export { listGpuMachines } from "./machines/supply-store.ts";
