export { allocate, compareRank, type Claim, type Holder, type MachineClaims } from "./rules/allocation.ts";
export { listRentedDevices, type RentedDevices } from "./demand-store.ts";
export { discountPpm } from "./rules/discount.ts";
export { minBidNanos } from "./rules/min-bid.ts";
export { OfferTable } from "./offer-table.ts";
export { BID_MAX_NANOS, standingOf, type Standing } from "./rules/rank.ts";
export { readMarketRules, setMarketRules, type MarketRules } from "./rules-store.ts";
export { marketRoutes } from "./routes.ts";
export { termsOf, worsenings } from "./offer-terms.ts";
export type { OfferRecord } from "./schema.ts";
export { searchOffers, type SearchCaller } from "./search/rules/search.ts";
export { readQuery, refuseUnknownFields } from "./search/rules/search-request.ts";
export {
  availableCount,
  diskBytesOf,
  freeDevices,
  freeDiskBytes,
  isOpen,
  shareOf,
  type MachineState,
} from "./rules/machine-state.ts";
export { usualPrice, type PricedOffer } from "./usual-price.ts";
export { alignOffers, readMachineStates, refreshOffers } from "./service.ts";
export {
  findOffers,
  insertLeases,
  insertUsedOffer,
  listLiveLeases,
  listLiveOffers,
  releaseLeases,
  setLeaseGenerations,
  setLeasePrice,
  type KnownOffer,
  type NewLease,
} from "./store.ts";
export { listHeldDevices, type HeldDevices } from "./audit-store.ts";
