import type { Clock } from "../../base/clock.ts";
import type { Encryption } from "../../base/encryption.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { encryptEarlierJobs } from "../../domains/supply/listings/index.ts";
import { encryptEarlierInstances } from "../../domains/rental/instances/for-assembly.ts";
import { encryptEarlierDeployments, encryptEarlierWorkerGroups } from "../../domains/serverless/index.ts";
import { encryptEarlierTemplates } from "../../domains/rental/templates/index.ts";
import { encryptEarlierRequests } from "../../domains/rental/queue/index.ts";
import type { Loop } from "../../base/loop-driver.ts";

const ROWS_PER_TRANSACTION = 500;
const TRANSACTIONS_PER_RUN = 100;

type EncryptSome = (tx: Tx, encryption: Encryption, limit: number) => Promise<number>;

const KINDS = {
  instances: encryptEarlierInstances,
  templates: encryptEarlierTemplates,
  standing_requests: encryptEarlierRequests,
  worker_groups: encryptEarlierWorkerGroups,
  deployments: encryptEarlierDeployments,
  default_jobs: encryptEarlierJobs,
} as const satisfies Readonly<Record<string, EncryptSome>>;

/**
 * Encrypts texts that an earlier version stored in clear. No migration can do that, since SQL has no key. The loop goes
 * on for as long as a server of an earlier version may still write such rows.
 */
export function encryptionLoop(means: {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
}): Loop {
  return {
    name: "seal-earlier-settings",
    description: "Encrypts variables, scripts and arguments that were stored in clear.",
    everyMs: 600_000,
    run: async () => {
      const counts: Record<string, number> = {};
      for (const [kind, encryptSome] of Object.entries(KINDS)) counts[kind] = await encryptAll(means, encryptSome);
      return counts;
    },
  };
}

async function encryptAll(
  {
    database,
    clock,
    encryption,
  }: { readonly database: Database; readonly clock: Clock; readonly encryption: Encryption },
  encryptSome: EncryptSome,
): Promise<number> {
  let count = 0;
  for (let turn = 0; turn < TRANSACTIONS_PER_RUN; turn += 1) {
    const encrypted = await withTransaction(database, clock, (tx) => encryptSome(tx, encryption, ROWS_PER_TRANSACTION));
    count += encrypted;
    if (encrypted === 0) break;
  }
  return count;
}
