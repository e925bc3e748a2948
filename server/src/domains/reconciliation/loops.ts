import type { Loop } from "../../loops/driver.ts";
import { withTransaction } from "../../db/transaction.ts";
import { auditAndSeal, type Sealing } from "./audit-service.ts";
import { recordFinding } from "./finding-store.ts";
import { reconcile, RECONCILE_EVERY_MS, type ReconcilePorts } from "./reconcile-service.ts";

const SEAL_EVERY_MS = 3_600_000;

/** What finds by itself that something is not as it should be. */
export function reconciliationLoops(ports: ReconcilePorts): readonly Loop[] {
  return [
    {
      name: "reconcile",
      description: "Compares ledger, leases, instances and hosts, and repairs by rule or alarms.",
      everyMs: RECONCILE_EVERY_MS,
      run: () => reconcile(ports),
    },
    {
      name: "seal-audits",
      description: "Audits finished days, seals what is right, and alarms when something is not.",
      everyMs: SEAL_EVERY_MS,
      run: async () => {
        const sealing = await auditAndSeal(ports);
        if (sealing === undefined) return { sealed: 0, differences: 0 };
        return { sealed: sealing.isSealed ? 1 : 0, differences: await alarm(ports, sealing) };
      },
    },
  ];
}

async function alarm({ database, clock, log }: ReconcilePorts, { report }: Sealing): Promise<number> {
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
