import type { Clock } from "../../base/clock.ts";
import type { Sealer } from "../../base/seal.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { encryptEarlierJobs } from "../../domains/supply/listings/index.ts";
import { encryptEarlierInstances } from "../../domains/rental/instances/for-assembly.ts";
import { sealEarlierDeployments, sealEarlierWorkerGroups } from "../../domains/serverless/index.ts";
import { encryptEarlierTemplates } from "../../domains/rental/templates/index.ts";
import { encryptEarlierRequests } from "../../domains/rental/queue/index.ts";
import type { Loop } from "../../base/loop-driver.ts";

const ROWS_PER_TRANSACTION = 500;
const TRANSACTIONS_PER_RUN = 100;

type Seal = (tx: Tx, sealer: Sealer, limit: number) => Promise<number>;

const KINDS = {
  instances: encryptEarlierInstances,
  templates: encryptEarlierTemplates,
  standing_requests: encryptEarlierRequests,
  worker_groups: sealEarlierWorkerGroups,
  deployments: sealEarlierDeployments,
  default_jobs: encryptEarlierJobs,
} as const satisfies Readonly<Record<string, Seal>>;

/**
 * Encrypts texts that an earlier version stored in clear. No migration can do that, for SQL has no key. It
 * goes on for as long as a server of an earlier version may still write such rows.
 */
export function sealLoop(means: { readonly database: Database; readonly clock: Clock; readonly sealer: Sealer }): Loop {
  return {
    name: "seal-earlier-settings",
    description: "Seals variables, scripts and arguments that were stored before they were sealed.",
    everyMs: 600_000,
    run: async () => {
      const counts: Record<string, number> = {};
      for (const [kind, seal] of Object.entries(KINDS)) counts[kind] = await sealAll(means, seal);
      return counts;
    },
  };
}

async function sealAll(
  { database, clock, sealer }: { readonly database: Database; readonly clock: Clock; readonly sealer: Sealer },
  seal: Seal,
): Promise<number> {
  let count = 0;
  for (let turn = 0; turn < TRANSACTIONS_PER_RUN; turn += 1) {
    const sealed = await withTransaction(database, clock, (tx) => seal(tx, sealer, ROWS_PER_TRANSACTION));
    count += sealed;
    if (sealed === 0) break;
  }
  return count;
}
