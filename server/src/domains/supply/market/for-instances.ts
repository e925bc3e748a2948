// Exports that only instances uses.
export { allocate, compareRank, type Claim, type Holder, type MachineClaims } from "./rules/allocation.ts";
export { minBidNanos } from "./rules/min-bid.ts";
export { BID_MAX_NANOS, rankOf, type Rank } from "./rules/rank.ts";
export { readMarketRules, type MarketRules } from "./rules-store.ts";
export { termsOf, worsenings } from "./offer-terms.ts";
export { availableCount, diskBytesOf, freeDevices, shareOf, type MachineState } from "./rules/machine-state.ts";
export { alignOffers, readMachineStates } from "./service.ts";
export {
  findOffers,
  firstLiveGrantAt,
  insertGpuGrants,
  insertUsedOffer,
  liveGrantCount,
  releaseGpuGrants,
  setGpuGrantGenerations,
  setGpuGrantPrice,
  type KnownOffer,
  type NewGpuGrant,
} from "./store.ts";
