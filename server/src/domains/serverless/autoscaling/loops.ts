import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import type { Autoscaler } from "./autoscale-service.ts";
import { deleteEventsBefore } from "./event-store.ts";
import { deleteFleetsBefore } from "../history/store.ts";
import { deleteAvoidancesBefore } from "../workers/store.ts";

const EVENTS_KEPT_MS = 7 * 86_400_000;
const EVENTS_PER_RUN = 10_000;

type Deps = { readonly database: Database; readonly clock: Clock; readonly autoscaler: Autoscaler };

export function autoscaleLoops({ database, clock, autoscaler }: Deps): readonly Loop[] {
  return [
    {
      name: "autoscale",
      description: "Looks at endpoints and gives them the workers that they need.",
      everyMs: 1_000,
      run: () => autoscaler.run(),
    },
    {
      name: "forget-endpoint-events",
      description: "Forgets what happened in endpoints more than a week ago.",
      everyMs: 60_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          await deleteAvoidancesBefore(tx, tx.now);
          const before = new Date(tx.now.getTime() - EVENTS_KEPT_MS);
          const deleted = await deleteEventsBefore(tx, before, EVENTS_PER_RUN);
          return { deleted, fleets: await deleteFleetsBefore(tx, before, EVENTS_PER_RUN) };
        }),
    },
  ];
}
