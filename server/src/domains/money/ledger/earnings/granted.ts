// Which part of a transfer is granted credit, and which is cash that a user paid in.

/**
 * The state of an account that decides which part the next transfer takes; the balance less the granted part is cash.
 */
export type Parts = { readonly balanceNanos: bigint; readonly grantedNanos: bigint };

/** Codes of transfers that leave the market or pay the house's fee: they take cash first. */
const CASH_FIRST_CODES: ReadonlySet<string> = new Set([
  "payout",
  "fee",
  "payment_returned",
  "taken_back",
  "earnings_taken_back",
]);
const HOUSE_KINDS: ReadonlySet<string> = new Set(["fees", "payouts", "stripe", "losses"]);

/**
 * The granted part of a transfer from this account, between zero and the amount of the transfer. Transfers for anything
 * else use up granted credit first. An amount beyond both parts is an advance of the house and counts as granted, so
 * that no cash arises from nothing. The database's function `ledger_granted_part` computes the same (migration 0348).
 */
export function grantedPart(
  { kind, code, amount }: { readonly kind: string; readonly code: string; readonly amount: bigint },
  { balanceNanos, grantedNanos }: Parts,
): bigint {
  if (kind === "issuance") return code === "credit_granted" ? amount : 0n;
  // A won dispute returns what the house had advanced. As cash it would count twice: here and where it was spent.
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
