import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import type { Loop } from "../../loops/driver.ts";
import { settleRuns } from "./service.ts";

export { settleInstance } from "./service.ts";

/** Charges follow what agents counted by a few seconds. */
export function meteringLoops({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop[] {
  return [
    {
      name: "settle-runs",
      description: "Charges the running time that agents have counted.",
      everyMs: 10_000,
      run: () => settleRuns(database, clock),
    },
  ];
}
