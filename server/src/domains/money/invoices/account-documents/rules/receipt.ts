import type { UserId } from "../../../../../base/ids.ts";
import { roundHalfUp } from "../../../../../base/money.ts";
import type { User } from "../../../../people/accounts/index.ts";
import type { MovementCode, PostedMovement } from "../../../ledger/for-invoices.ts";
import { buyerOf, sellerParty, type AccountParty, type Party } from "../../documents/rules/party.ts";
import type { Seller } from "../../seller.ts";

/** `dispute_won`: a dispute was decided for the seller, so the payment is restored. */
export type ReceiptEvent = "payment" | "refund" | "dispute" | "dispute_won";

/** The permanent content of a receipt. */
export type ReceiptContent = {
  readonly seller: Party;
  readonly buyer: AccountParty;
  readonly currency: "USD";
  readonly event: ReceiptEvent;
  /** Negative for a returned payment. */
  readonly total_cents: number;
  /** The exact amount in nano-dollars, as text. */
  readonly amount_nanos: string;
  readonly paid_at_ms: number;
  /** `Card`, or the words of an administrator for a payment outside the provider. */
  readonly method: string;
  /** The id in `./berth billing payments`; null for a payment by other means. */
  readonly payment_id: number | null;
  readonly transfer_id: string;
};

/** Codes under which users' payments come in and go back. */
export const RECEIPT_CODES = [
  "payment",
  "payment_returned",
  "credit_granted",
] as const satisfies readonly MovementCode[];

export type ReceiptFacts = {
  readonly userId: UserId;
  readonly event: ReceiptEvent;
  /** Nano-dollars, negative for a returned payment. */
  readonly amount: bigint;
  readonly method: string;
  readonly paymentId: number | undefined;
};

/**
 * The facts of a receipt for this movement; undefined when it is no payment of a user and no return of one. Credit that
 * an administrator grants counts as paid only when the administrator states how.
 */
export function receiptFactsOf({ code, debit, credit, amount, cause, description }: PostedMovement) {
  const paymentId = typeof cause["payment_id"] === "number" ? cause["payment_id"] : undefined;
  const returned = typeof cause["return"] === "string" ? cause["return"] : undefined;
  const into = credit.kind === "credit" ? credit.userId : undefined;
  const outOf = debit.kind === "credit" ? debit.userId : undefined;
  const facts = (userId: UserId, event: ReceiptEvent, signed: bigint, method: string): ReceiptFacts => ({
    userId,
    event,
    amount: signed,
    method,
    paymentId,
  });
  if (code === "payment" && into !== undefined) {
    return returned === undefined
      ? facts(into, "payment", amount, description === "Automatic card payment" ? "Card, automatic payment" : "Card")
      : facts(into, "dispute_won", amount, "Card");
  }
  // The house's advance for a disputed payment returns under the code under which it went.
  if (code === "payment_returned" && into !== undefined) return facts(into, "dispute_won", amount, "Card");
  if (code === "payment_returned" && outOf !== undefined) {
    return facts(outOf, returned?.startsWith("dispute:") === true ? "dispute" : "refund", -amount, "Card");
  }
  const paidBy = cause["paid_by"];
  if (code !== "credit_granted" || into === undefined || typeof paidBy !== "string") return undefined;
  return facts(into, "payment", amount, paidBy);
}

const NANOS_PER_CENT = 10_000_000n;

export function makeReceipt(
  movement: PostedMovement,
  facts: ReceiptFacts,
  { seller, user }: { readonly seller: Seller; readonly user: User | undefined },
): ReceiptContent {
  return {
    seller: sellerParty(seller),
    buyer: buyerOf(user, facts.userId),
    currency: "USD",
    ...amountsOf(movement, facts),
    method: facts.method,
  };
}

/** The amounts of a receipt, which must stay right forever, although its parties may change their names. */
export function amountsOf({ id, createdAt }: PostedMovement, { event, amount, paymentId }: ReceiptFacts) {
  return {
    event,
    total_cents: Number(roundHalfUp(amount, NANOS_PER_CENT) / NANOS_PER_CENT),
    amount_nanos: String(amount),
    paid_at_ms: createdAt.getTime(),
    payment_id: paymentId ?? null,
    transfer_id: String(id),
  };
}
