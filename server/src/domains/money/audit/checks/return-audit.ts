import type { Reader } from "../../../../db/transaction.ts";
import { listNamedTransfers, listOverTakings, type NamedTransfer } from "../../ledger/for-audit.ts";
import {
  listAuditedDebts,
  isDepositKind,
  listAuditedReturns,
  namedByKey,
  nameTaken,
  returnKeysOf,
  type AuditedReturn,
} from "../../payments/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "../rules/difference.ts";
import type { Ranges } from "./ledger-audit.ts";

const CODES = ["payment", "payment_returned", "write_off", "taken_back"] as const;

/** Compares returned payments with their bookings, and the bookings with the ledger. */
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
    const problem = "no payment went back for which it was booked";
    reportOf(tally, `transfer ${id}`)("returns", { problem, stored: code, expected: returnKey });
  }
  await auditOverTakings(db, tally, range);
  for (const { userId, debtNanos, takenNanos } of await listAuditedDebts(db)) {
    if (debtNanos <= takenNanos) continue;
    const problem = "credit may be further below zero than the amount that returned payments took";
    reportOf(tally, `debt of user ${userId}`)("returns", {
      problem,
      stored: String(debtNanos),
      expected: String(takenNanos),
    });
  }
}

/** Checks that neither disputes nor administrators took more from a host than it had earned and still had. */
async function auditOverTakings(db: Reader, tally: Tally, range: Ranges["transfers"]): Promise<void> {
  const { examined, over } = await listOverTakings(db, range);
  tally.examine("returns", examined);
  for (const { transferId, code, hostId, takenNanos, keptNanos } of over) {
    const problem = `its ${code} took more from host ${hostId} than it had earned and not given back`;
    const [stored, expected] = [String(takenNanos), `at most ${keptNanos}`];
    reportOf(tally, `transfer ${transferId}`)("returns", { problem, stored, expected });
  }
}

function checkReturn(tally: Tally, one: AuditedReturn, transfers: readonly NamedTransfer[]): void {
  const report = reportOf(tally, `return ${one.key}`);
  const same = (problem: string, stored: bigint | string, expected: bigint | string) =>
    compare(report, "returns", problem, { stored, expected });
  same("the booked amount is not the amount that went back", one.takenNanos + one.lostNanos, one.dueNanos);
  same("its transfers took another amount from credit", movedFrom("credit", transfers), one.takenNanos);
  same("its transfers made another loss", movedFrom("losses", transfers), one.lostNanos);
  checkTakings(same, one, transfers);
  for (const { code, debit, credit } of transfers) {
    if (code === "taken_back") continue;
    const userId = debit.userId ?? credit.userId;
    if (userId === undefined) continue;
    same("its transfer is another user's", String(userId), String(one.userId ?? "nobody"));
  }
}

/**
 * Compares the amounts taken from deposits and other users, and returned to them after a won dispute, with the
 * transfers.
 */
function checkTakings(
  same: (problem: string, stored: bigint | string, expected: bigint | string) => void,
  { takings, isReversed, userId: payerId }: AuditedReturn,
  transfers: readonly NamedTransfer[],
): void {
  const moved = new Map<string, bigint>();
  for (const { code, key, credit, amountNanos } of transfers) {
    if (code !== "taken_back") continue;
    const isTaken = credit.kind === "credit" && credit.userId === payerId;
    const name = namedByKey(key);
    moved.set(name, (moved.get(name) ?? 0n) + (isTaken ? amountNanos : -amountNanos));
  }
  const changed = takings.map((taking) => {
    // The payer's deposit is not filled again: its part returns to credit with the payment.
    const isOwn = isDepositKind(taking.kind) && taking.userId === payerId;
    const name = nameTaken(taking);
    if (isReversed) same(`it was won, and ${told(name)} did not get back what was taken`, taking.openNanos, 0n);
    return { name, takenNanos: isOwn ? taking.allNanos : taking.openNanos };
  });
  const unknown = changed.filter(({ name }) => !moved.has(name));
  for (const { name, takenNanos } of changed) {
    const movedNanos = moved.get(name);
    moved.delete(name);
    if (movedNanos === undefined) continue;
    same(`what was taken from ${told(name)} is not what its transfers took`, takenNanos, movedNanos);
  }
  for (const { name, takenNanos } of unknown) {
    const meant = [...moved].find(([, amount]) => amount === takenNanos)?.[0];
    if (meant === undefined) same(`what was taken from ${told(name)} is not what its transfers took`, takenNanos, 0n);
    else same("the taking is noted for another account, or for another way to it", told(name), told(meant));
    if (meant !== undefined) moved.delete(meant);
  }
  for (const [name, amount] of moved) {
    same(`something was taken from ${told(name)} without a note`, amount, 0n);
  }
}

/** Words for a taking: `earnings 9`, or `deposit:12 7 through 5,7`. */
function told(name: string): string {
  return name.replace(/^(credit|earnings|deposit:\d+):(\d+)(?::through:(.*))?$/, (_all, kind, userId, through) =>
    through === undefined ? `${kind} ${userId}` : `${kind} ${userId} through ${through}`,
  );
}

/** The amount that transfers moved from accounts of one kind to the card provider, less the amount moved back. */
function movedFrom(kind: "credit" | "losses", transfers: readonly NamedTransfer[]): bigint {
  return transfers.reduce((sum, { debit, credit, amountNanos }) => {
    if (debit.kind === kind && credit.kind === "stripe") return sum + amountNanos;
    return debit.kind === "stripe" && credit.kind === kind ? sum - amountNanos : sum;
  }, 0n);
}
