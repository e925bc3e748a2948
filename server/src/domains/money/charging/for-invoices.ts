// Exports that only invoices uses.
export { listAccruing } from "./accruals/accrued.ts";
export { sumDiscounts } from "./lines/discount-store.ts";
export {
  listChargedInstances,
  listChargeKeys,
  listContractSums,
  listDaySums,
  listLines,
  listPayersAmong,
  sumChargedByDay,
  sumContractsByDay,
  sumCreditChargedAfter,
  totalCharged,
  type ChargeComponent,
  type ChargeKey,
  type ChargeKind,
  type ChargeLine,
  type ChargeSum,
  type ContractDay,
  type DaySum,
  type DayTotal,
  type LinePlace,
} from "./lines/line-report-store.ts";
export { listBeginnings, listMonthPortions } from "./lines/portion-store.ts";
