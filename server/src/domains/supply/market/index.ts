export { listGrantsSince, listRentedDevices, type PastGrant, type RentedDevices } from "./demand-store.ts";
export { discountPpm } from "./rules/discount.ts";
export type { SearchCaller } from "./search/rules/search.ts";
export { refuseUnknownFields } from "./search/rules/search-request.ts";
export { freeDiskBytes, isOpen } from "./rules/machine-state.ts";
export { refreshOffers } from "./service.ts";
export { listLiveGpuGrants, listLiveOffers } from "./store.ts";
export { listHeldDevices, type HeldDevices } from "./audit-store.ts";
