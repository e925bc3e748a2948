import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { settleDue } from "./settlement/service.ts";
import { settleDueVolumes } from "./volumes/volume-settlement.ts";

export { accruedOf, depositAccrualOf, listAccruing } from "./accruals/accrued.ts";
export { lockSpendable, readBalance, readBalances } from "./accruals/balance.ts";
export { sumDiscounts } from "./lines/discount-store.ts";
export { chargeDayLoop } from "./days/charge-day-loop.ts";
export {
  listChargedInstances,
  listChargeKeys,
  listContractSums,
  listDaySums,
  listLines,
  listPayersAmong,
  totalCharged,
  type ChargeComponent,
  type ChargeKey,
  type ChargeKind,
  type ChargeLine,
  type ChargeSum,
  type DaySum,
  type LinePlace,
} from "./lines/line-report-store.ts";
export { balanceStopsAt, capsStopAt } from "./accruals/outlook-service.ts";
export { listBeginnings, listMonthPortions } from "./lines/portion-store.ts";
export { lineAmount } from "./lines/lines.ts";
export {
  listRunsOf,
  SETTLED_AT_ONCE_MAX,
  settleDue,
  settleInstance,
  settleLocked,
  settleWithin,
} from "./settlement/service.ts";
export { settleVolumesWithin } from "./volumes/volume-settlement.ts";
export { spentWithin } from "./spending/spent-service.ts";
export { sumCharged } from "./spending/spent-store.ts";

/**
 * The loops that settle due instances and volumes: changes at once, everything else by its period (docs/billing.md).
 */
export function chargingLoops({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop[] {
  return [
    {
      name: "settle-runs",
      description: "Charges what instances that are due have used, and sets aside what they may use next.",
      everyMs: 1_000,
      run: () => settleDue(database, clock),
    },
    {
      name: "settle-volumes",
      description: "Charges what volumes that are due have cost.",
      everyMs: 10_000,
      run: () => settleDueVolumes(database, clock),
    },
  ];
}
