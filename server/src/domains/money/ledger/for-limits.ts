// Exports that only limits uses.
export type { CapPeriod } from "./types.ts";
export { sumPaidIn } from "./earned-parts-store.ts";
export { deleteCap, findCap, listCapsToTellOf, listReachedCaps, putCap } from "./cap-store.ts";
export { parseCapPeriod, resetAt } from "./cap-scope.ts";
export { setMinimumBalance } from "./account-store.ts";
