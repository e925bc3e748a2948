// Exports that only assembly uses.
export { bidFloorLoop } from "./bid-history/recorder.ts";
export { OfferTable } from "./offer-table.ts";
export { setMarketRules } from "./rules-store.ts";
export { marketRoutes } from "./routes.ts";
export type { OfferRecord } from "./schema.ts";
export { countOffers, searchOffers } from "./search/rules/search.ts";
