import type { Reader } from "../../db/transaction.ts";
import { listNamedTransfers, type NamedTransfer } from "../ledger/index.ts";
import { listAuditedReturns, returnKeysOf, type AuditedReturn } from "../payments/index.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "./difference.ts";
import type { Ranges } from "./ledger-audit.ts";

const CODES = ["payment", "payment_returned", "write_off"] as const;

/** What went back of payments beside what was booked for it, and that beside the ledger. */
export async function auditReturns(db: Reader, tally: Tally, { transfers: range }: Ranges): Promise<void> {
  const recent = (await listNamedTransfers(db, { keys: [], codes: CODES, range })).filter(
    ({ returnKey }) => returnKey !== undefined,
  );
  const named = [...new Set(recent.flatMap(({ returnKey }) => returnKey ?? []))];
  const returns = await listAuditedReturns(db, { since: range.from, keys: named });
  tally.examine("returns", returns.length);
  const all = await listNamedTransfers(db, { keys: returns.flatMap(returnKeysOf), codes: [], range });
  const transfers = new Map([...recent, ...all].map((transfer) => [transfer.id, transfer]));
  const transfersOf = Map.groupBy(transfers.values(), ({ returnKey }) => returnKey);
  for (const one of returns) checkReturn(tally, one, transfersOf.get(one.key) ?? []);
  const known = new Set(returns.map(({ key }) => key));
  for (const { id, code, returnKey = "" } of recent) {
    if (known.has(returnKey)) continue;
    const problem = "there is nothing that went back for which it was booked";
    reportOf(tally, `transfer ${id}`)("returns", { problem, stored: code, expected: returnKey });
  }
}

function checkReturn(tally: Tally, one: AuditedReturn, transfers: readonly NamedTransfer[]): void {
  const report = reportOf(tally, `return ${one.key}`);
  const same = (problem: string, stored: bigint | string, expected: bigint | string) =>
    compare(report, "returns", problem, { stored, expected });
  same("what was booked for it is not what went back", one.takenNanos + one.lostNanos, one.dueNanos);
  same("its transfers took something else from credit", movedFrom("credit", transfers), one.takenNanos);
  same("its transfers made another loss", movedFrom("losses", transfers), one.lostNanos);
  for (const { debit, credit } of transfers) {
    const userId = debit.userId ?? credit.userId;
    if (userId === undefined) continue;
    same("its transfer is another user's", String(userId), String(one.userId ?? "nobody"));
  }
}

/** What these moved from accounts of one kind to the card provider, less what they moved back. */
function movedFrom(kind: "credit" | "losses", transfers: readonly NamedTransfer[]): bigint {
  return transfers.reduce((sum, { debit, credit, amountNanos }) => {
    if (debit.kind === kind && credit.kind === "stripe") return sum + amountNanos;
    return debit.kind === "stripe" && credit.kind === kind ? sum - amountNanos : sum;
  }, 0n);
}
