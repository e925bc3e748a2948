import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { deleteLoadBefore } from "./route-store.ts";
import { TEND_MS, type Routers } from "./routers.ts";

const LOAD_KEPT_MS = 7 * 24 * 3_600_000;
const FORGOTTEN_PER_RUN = 50_000;

export function routerLoops({
  database,
  clock,
  routers,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly routers: Routers;
}): readonly Loop[] {
  return [
    {
      name: "write-endpoint-load",
      description: "Gives up requests that nobody comes back for, and stores the traffic of endpoints by the second.",
      everyMs: TEND_MS,
      run: async () => ({ ...routers.tend(), ...(await routers.writeLoad()) }),
    },
    {
      name: "forget-endpoint-load",
      description: "Deletes the traffic of endpoints after seven days.",
      everyMs: 600_000,
      run: async () => {
        const before = new Date(clock.now().getTime() - LOAD_KEPT_MS);
        return {
          deleted: await withTransaction(database, clock, (tx) => deleteLoadBefore(tx, before, FORGOTTEN_PER_RUN)),
        };
      },
    },
  ];
}
