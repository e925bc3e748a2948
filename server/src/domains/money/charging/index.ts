import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { settleDue } from "./settlement/service.ts";
import { settleDueVolumes } from "./volumes/volume-settlement.ts";

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
export { accruedOf } from "./accruals/accrued.ts";
export { lockSpendable, readBalance } from "./accruals/balance.ts";
export { lineAmount } from "./lines/lines.ts";
export { listRunsOf, settleDue, settleLocked } from "./settlement/service.ts";
export { spentWithin } from "./spending/spent-service.ts";
