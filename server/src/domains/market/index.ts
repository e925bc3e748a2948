export { allocate, compareRank, type Claim, type Holder } from "./allocation.ts";
export { minBidNanos } from "./offer-record.ts";
export { OfferTable } from "./offer-table.ts";
export { marketRoutes, type MarketPorts } from "./routes.ts";
export { availableCount, freeDevices, isOpen, type MachineState } from "./machine-state.ts";
export { readMachineStates, refreshOffers } from "./service.ts";
export {
  findOffers,
  insertLeases,
  listLiveLeases,
  MARKET_CHANNEL,
  notifyMachines,
  releaseLeases,
  retireOffers,
  setLeaseGeneration,
  setLeasePrice,
  type NewLease,
} from "./store.ts";
