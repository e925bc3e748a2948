// Exports that only serverless uses.
export { readQuery } from "./search/rules/search-request.ts";
export { usualPrice, type PricedOffer } from "./usual-price.ts";
