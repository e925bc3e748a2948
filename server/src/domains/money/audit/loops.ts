import type { Loop } from "../../../base/loop-driver.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { auditAndCheckpoint, type CheckpointRun } from "./audit-service.ts";
import { findFactHead, listLinks } from "../../../db/fact-store.ts";
import { recordFinding } from "./findings/finding-store.ts";
import { reconcile, RECONCILE_EVERY_MS, type ReconcilePorts } from "./findings/reconcile-service.ts";

const CHECKPOINT_EVERY_MS = 3_600_000;
const KEEP_HEAD_EVERY_MS = 60_000;

/** Loops that look for errors in the books, and repair some. */
export function auditLoops(ports: ReconcilePorts): readonly Loop[] {
  return [
    {
      name: "reconcile",
      description: "Compares ledger, GPU grants, instances and hosts; repairs by rule, or alarms.",
      everyMs: RECONCILE_EVERY_MS,
      run: () => reconcile(ports),
    },
    {
      name: "seal-audits",
      description: "Audits finished days, stores a checkpoint when nothing differs, and alarms when something does.",
      everyMs: CHECKPOINT_EVERY_MS,
      run: async () => {
        const run = await auditAndCheckpoint(ports);
        if (run === undefined) return { sealed: 0, differences: 0 };
        if (run.isStored) await logHead(ports);
        return { sealed: run.isStored ? 1 : 0, differences: await alarm(ports, run) };
      },
    },
    {
      name: "keep-fact-head",
      description: "Keeps the head of the chain of facts outside the database, in the data directory.",
      everyMs: KEEP_HEAD_EVERY_MS,
      run: async () => {
        const { witness, signer } = ports.database.facts;
        const [last] = await listLinks(ports.database.kysely, {
          from: (await findFactHead(ports.database.kysely)).number,
          limit: 1,
        });
        // Other servers append links as well. A link without a signature is left for the audit to report.
        if (last !== undefined && signer.isSigned(last, last.signature)) witness.see(last);
        await witness.keep();
        return { head: Number(witness.head.number) };
      },
    },
  ];
}

/** Logs the head of the chain. Logs outlive a database that is restored, and the chain must still contain this link. */
async function logHead({ database, log }: ReconcilePorts): Promise<void> {
  const { number, sha256 } = await findFactHead(database.kysely);
  log.info(
    { fact_link: String(number), sha256, key: database.facts.signer.publicKey },
    "a checkpoint is stored, and the chain of facts ends with this link",
  );
}

async function alarm({ database, clock, log }: ReconcilePorts, { report }: CheckpointRun): Promise<number> {
  const broken = report.checks.filter(({ differenceCount }) => differenceCount > 0);
  for (const { name, differenceCount, differences } of broken) {
    const details = { differences: differenceCount, first: differences[0]?.subject ?? "" };
    log.error({ check: name, ...details }, "the audit found rows that differ");
    await withTransaction(database, clock, (tx) =>
      recordFinding(tx, { kind: "audit_difference", subject: `check ${name}`, outcome: "alarmed", details }),
    );
  }
  return broken.reduce((sum, { differenceCount }) => sum + differenceCount, 0);
}
