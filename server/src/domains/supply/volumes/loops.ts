import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { notifyMarket } from "../hosts/index.ts";
import { deleteEndedVolumes } from "./end-service.ts";
import { listEndedSpace } from "./local/store.ts";

const EVERY_MS = 60_000;
/** Each deletion makes a host delete data. */
const DELETIONS_PER_RUN = 100;

/** Loops that delete ended volumes and announce ended listings of space. */
export function volumeLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "end-volume-listings",
      description: "Takes disk space off the market when its listing has ended.",
      everyMs: EVERY_MS,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          // Three periods, since a run may be late; announcing a listing twice does no harm. After a start of the
          // server everything is read.
          const from = new Date(tx.now.getTime() - 3 * EVERY_MS);
          const machineIds = await listEndedSpace(tx.db, { from, to: tx.now });
          await notifyMarket(tx, machineIds);
          return { machines: machineIds.length };
        }),
    },
    {
      name: "delete-ended-volumes",
      description: "Deletes volumes two days after their end, unless an instance uses them.",
      everyMs: EVERY_MS,
      run: () =>
        withTransaction(database, clock, async (tx) => ({ deleted: await deleteEndedVolumes(tx, DELETIONS_PER_RUN) })),
    },
  ];
}
