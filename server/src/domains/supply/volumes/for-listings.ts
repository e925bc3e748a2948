// Exports that only listings uses.
export { BYTES_PER_GB } from "./offers/rules/listing.ts";
export {
  extendLocalVolumes,
  hasLocalVolumes,
  listWithLocalVolumes,
  listSpaceOf,
  listSpaceWith,
  moveSpaceEnd,
  unlistSpaceOf,
  type SpaceOf,
} from "./local/companion-service.ts";
export { listDearSpace, lowerNetworkSpacePrices, lowerSpacePrices } from "./offers/ceiling-store.ts";
