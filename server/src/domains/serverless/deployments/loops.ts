import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { removeDeployment } from "./deployment-service.ts";
import { listSilentDeployments, lockDeployment, markHealthyVersions } from "./deployment-store.ts";
import { UPLOAD_MS } from "./file-address.ts";
import { deleteBrokenUploads } from "./version-store.ts";

type Deps = { readonly database: Database; readonly clock: Clock };

const REMOVED_PER_RUN = 50;

export function deploymentLoops(deps: Deps): readonly Loop[] {
  const { database, clock } = deps;
  return [
    {
      name: "tend-deployments",
      description: "Tears down deployments whose clients are gone, and notes which versions work.",
      everyMs: 5_000,
      run: async () => {
        const removed = await removeSilentDeployments(deps);
        const healthy = await withTransaction(database, clock, markHealthyVersions);
        return { removed, healthy };
      },
    },
    {
      name: "forget-broken-uploads",
      description: "Forgets code whose upload ended with the server that took it.",
      everyMs: 300_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({
          // A client that began just before the address expired has another hour.
          deleted: await deleteBrokenUploads(tx, new Date(tx.now.getTime() - 2 * UPLOAD_MS)),
        })),
    },
  ];
}

/** Deletes each in a transaction of its own; a deployment whose client came back meanwhile stays. */
async function removeSilentDeployments({ database, clock }: Deps): Promise<number> {
  const due = await listSilentDeployments(database.kysely, clock.now(), REMOVED_PER_RUN);
  let removed = 0;
  for (const id of due) {
    const isRemoved = await withTransaction(database, clock, async (tx) => {
      const deployment = await lockDeployment(tx, id);
      if (deployment?.ttlS === undefined) return false;
      const { heartbeatAt, ttlS } = deployment;
      if (heartbeatAt.getTime() + ttlS * 1000 > tx.now.getTime()) return false;
      await removeDeployment(tx, deployment);
      return true;
    });
    if (isRemoved) removed += 1;
  }
  return removed;
}
