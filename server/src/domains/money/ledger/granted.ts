// Which part of what moves is granted credit, and which is cash that somebody paid in.

/** The state of an account that decides what the next transfer takes; the rest of its balance is cash. */
export type Parts = { readonly balanceNanos: bigint; readonly grantedNanos: bigint };

/** What leaves the house, or goes to it as its fee: cash first. */
const CASH_FIRST_CODES: ReadonlySet<string> = new Set([
  "payout",
  "fee",
  "payment_returned",
  "taken_back",
  "earnings_taken_back",
]);
const HOUSE_KINDS: ReadonlySet<string> = new Set(["fees", "payouts", "stripe", "losses"]);

/**
 * The granted part of a transfer from this account, between nothing and its amount. Granted credit is used up first,
 * whatever it pays for. What exceeds both parts is an advance of the house, which counts as granted: no cash comes from
 * nothing. The database's function `ledger_granted_part` says the same (migration 0348).
 */
export function grantedPart(
  { kind, code, amount }: { readonly kind: string; readonly code: string; readonly amount: bigint },
  { balanceNanos, grantedNanos }: Parts,
): bigint {
  if (kind === "issuance") return code === "credit_granted" ? amount : 0n;
  // A won dispute restores what the house had advanced: as cash it would count twice, here and where it was spent.
  if (kind === "stripe" && code === "payment_returned") return amount;
  if (HOUSE_KINDS.has(kind)) return 0n;
  const cash = atLeastZero(balanceNanos - grantedNanos);
  const isCashFirst =
    (CASH_FIRST_CODES.has(code) && (kind === "credit" || kind === "earnings")) ||
    (code === "taken_back" && kind.startsWith("deposit:"));
  const first = isCashFirst ? 0n : least(amount, atLeastZero(grantedNanos));
  return amount - least(amount - first, cash);
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
