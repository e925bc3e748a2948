// Exports that only invoices uses.
export type { TransferOutcome } from "./types.ts";
export {
  listEarnersAmong,
  listEarningsHolders,
  sumEarningsMovements,
  type EarningsMovement,
} from "./earnings/earnings-movement-store.ts";
export { sumMovementsAfter } from "./credit-balance-store.ts";
export { readFreeCash } from "./earnings/earned-parts-store.ts";
export { sumReceivedCredit } from "./received-store.ts";
export {
  firstMovementAt,
  listCreditHolders,
  listMovements,
  listMoversAmong,
  placeOf,
  listEarlyEnds,
  sumPrepaidMovements,
  type EarlyEnd,
  type Movement,
  type MovementCode,
  type MovementPlace,
  type MovementSide,
  type MovementSum,
} from "./movement-store.ts";
export { listMovementsOf, listPostedMovements, type PostedMovement, type PostedPlace } from "./posted-store.ts";
export { findInCause } from "./transfer-store.ts";
