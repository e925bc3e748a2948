// Exports that only limits uses.
export type { CapPeriod } from "./types.ts";
export { sumPaidIn } from "./earnings/earned-parts-store.ts";
export { deleteCap, findCap, listCapsToTellOf, listReachedCaps, putCap } from "./caps/cap-store.ts";
export { parseCapPeriod, resetAt } from "./caps/cap-scope.ts";
export { setMinimumBalance } from "./account-store.ts";
