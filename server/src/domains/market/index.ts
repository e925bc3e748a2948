export { allocate, compareRank, type Claim, type Holder } from "./allocation.ts";
export { minBidNanos } from "./offer-record.ts";
export { OfferTable } from "./offer-table.ts";
export { marketRoutes } from "./routes.ts";
export { availableCount, freeDevices, isOpen, shareOf, type MachineState } from "./machine-state.ts";
export { alignOffers, readMachineStates, refreshOffers } from "./service.ts";
export {
  findOffers,
  insertLeases,
  listLiveLeases,
  MARKET_CHANNEL,
  notifyMachines,
  releaseLeases,
  setLeaseGeneration,
  setLeasePrice,
  type NewLease,
} from "./store.ts";
