import type { AuditedTransfer } from "../../../ledger/for-audit.ts";
import { compare, instant, type Report } from "../../rules/difference.ts";
import type { AuditedLine } from "../../../charging/for-audit.ts";

const CODES = {
  gpu: "usage_gpu",
  disk: "usage_storage",
  bwu: "usage_bandwidth_up",
  bwd: "usage_bandwidth_down",
} as const satisfies Record<AuditedLine["component"], string>;

/** Checks a charge line against the transfer that it names. */
export function checkPayment(report: Report, line: AuditedLine, transfer: AuditedTransfer | undefined): void {
  if (line.transferId === undefined) {
    compare(report, "transfers", "it has an amount and no transfer", { stored: line.amountNanos, expected: 0n });
    return;
  }
  if (transfer === undefined) {
    const stored = `transfer ${line.transferId}`;
    report("transfers", { problem: "its transfer is not there", stored, expected: "a transfer" });
    return;
  }
  const same = (problem: string, stored: string | bigint, expected: string | bigint) =>
    compare(report, "transfers", problem, { stored, expected });
  same("its transfer has another amount", transfer.amountNanos, line.amountNanos);
  same("its transfer is for something else", transfer.code, CODES[line.component]);
  const payer = line.paidFrom === "deposit" ? `deposit:${line.instanceId}` : "credit";
  same("its transfer comes from another account", sideText(transfer.debit), `${payer} of user ${line.payerId}`);
  same("its transfer goes to another account", sideText(transfer.credit), `earnings of user ${line.hostId}`);
  same("its transfer was posted at another time", instant(transfer.createdAt), instant(line.chargedAt));
}

function sideText({ userId, kind }: AuditedTransfer["debit"]): string {
  return userId === undefined ? kind : `${kind} of user ${userId}`;
}
