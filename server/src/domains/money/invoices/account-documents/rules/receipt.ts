import type { UserId } from "../../../../../base/ids.ts";
import { roundHalfUp } from "../../../../../base/money.ts";
import type { User } from "../../../../people/accounts/index.ts";
import type { MovementCode, PostedMovement } from "../../../ledger/index.ts";
import { buyerOf, sellerParty, type AccountParty, type Party } from "../../documents/rules/party.ts";
import type { Seller } from "../../seller.ts";

/** `dispute_won`: a dispute was decided for the seller, so the payment is there again. */
export type ReceiptEvent = "payment" | "refund" | "dispute" | "dispute_won";

/** What a receipt says, for ever. */
export type ReceiptContent = {
  readonly seller: Party;
  readonly buyer: AccountParty;
  readonly currency: "USD";
  readonly event: ReceiptEvent;
  /** Below zero for what went back. */
  readonly total_cents: number;
  /** The same, exactly, as text. */
  readonly amount_nanos: string;
  readonly paid_at_ms: number;
  /** Card, or what an administrator said of a payment outside of the provider. */
  readonly method: string;
  /** As `./berth billing payments` names it; null for what was paid in another way. */
  readonly payment_id: number | null;
  readonly transfer_id: string;
};

/** Under which money is paid in by a user and goes back. */
export const RECEIPT_CODES = [
  "payment",
  "payment_returned",
  "credit_granted",
] as const satisfies readonly MovementCode[];

export type ReceiptFacts = {
  readonly userId: UserId;
  readonly event: ReceiptEvent;
  /** Below zero for what went back. */
  readonly amount: bigint;
  readonly method: string;
  readonly paymentId: number | undefined;
};

/**
 * What a receipt of this movement is about; undefined when it needs none: no user paid anything in, or got it back. Credit
 * that an administrator grants was paid only if the administrator says how.
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
  // What the house had advanced of a disputed payment comes back under the code under which it went.
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

/** What of a receipt has to be right for ever, whatever its parties are called since. */
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
