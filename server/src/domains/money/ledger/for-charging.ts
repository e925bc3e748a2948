// Exports that only charging uses.
export type { HoldRequest, Limitation } from "./types.ts";
export { listWentBack } from "./earnings/earned-parts-store.ts";
export { lockCapRooms, noteCapsReached, type CapRoom } from "./caps/cap-store.ts";
export { sumPrepaid } from "./prepaid-store.ts";
export { arrivalRows, hostCreditSince, toSent, type SentRow } from "./sent-credit-store.ts";
export { listHoldsAlike, listPendingAmounts, useHolds, UNTIL_STOPPED } from "./hold-store.ts";
