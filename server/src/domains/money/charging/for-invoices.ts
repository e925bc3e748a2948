// Exports that only invoices uses.
export { listAccruing } from "./accruals/accrued.ts";
export { sumDiscounts } from "./lines/discount-store.ts";
export { listLines, type ChargeLine, type LinePlace } from "./lines/line-list-store.ts";
export {
  listChargedInstances,
  listChargeKeys,
  listContractSums,
  listDaySums,
  listPayersAmong,
  sumChargedByDay,
  sumContractsByDay,
  sumCreditChargedAfter,
  totalCharged,
  type ChargeComponent,
  type ChargeKey,
  type ChargeKind,
  type ChargeSum,
  type ContractDay,
  type DaySum,
  type DayTotal,
} from "./lines/line-report-store.ts";
export { listBeginnings, listMonthPortions } from "./lines/portion-store.ts";
