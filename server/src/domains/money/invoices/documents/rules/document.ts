import { formatDollars, nanos, roundHalfUp, roundToSum } from "../../../../../base/money.ts";
import type { User } from "../../../../people/accounts/index.ts";
import type { EarlyEnd, MovementSum } from "../../../ledger/for-invoices.ts";
import type { ChargeSum } from "../../../charging/for-invoices.ts";
import { makeLines, type DocumentLine, type Edition, type LineFacts } from "./document-lines.ts";
import { buyerOf, sellerParty, type AccountParty, type Party } from "./party.ts";
import type { Seller } from "../../seller.ts";
import { taxFor, taxWithin } from "../../rules/tax.ts";

/** The permanent content of an invoice. Amounts are whole cents, and displayed amounts add up. */
export type DocumentContent = {
  /** The edition; undefined for edition 1. */
  readonly edition?: Edition;
  readonly seller: Party;
  readonly buyer: AccountParty;
  readonly currency: "USD";
  readonly lines: readonly DocumentLine[];
  readonly net_cents: number;
  readonly tax: {
    readonly percent: string;
    readonly amount_cents: number;
    readonly note: string;
    /** The name of the tax in the customer's country. Undefined on invoices from before there was a table. */
    readonly name?: string;
    /** The country whose tax it is; empty when the customer did not state one. */
    readonly country?: string;
    readonly is_reverse_charge?: boolean;
  };
  /** With tax: the sum of the lines, paid from credit. */
  readonly total_cents: number;
  readonly balance: {
    readonly opening_cents: number;
    readonly entries: readonly { readonly label: string; readonly amount_cents: number }[];
    readonly usage_cents: number;
    /** Fractions of a cent that the balance carries on, so that the column adds up. */
    readonly rounding_cents: number;
    readonly closing_cents: number;
    /** Nano-dollars as text; the next invoice must open with the closing balance. */
    readonly opening_nanos: string;
    readonly closing_nanos: string;
  };
};

/** The facts that an invoice is made from. */
export type DocumentFacts = LineFacts & {
  readonly seller: Seller;
  readonly userId: number;
  /** The customer; undefined when the account was deleted. */
  readonly user: User | undefined;
  readonly movements: readonly MovementSum[];
  /** Credit and deposits together at the end of the month, in nano-dollars. */
  readonly closingNanos: bigint;
};

const NANOS_PER_CENT = 10_000_000n;

/** The balance at the start of the month: the balance at its end, less the month's movements, plus its usage. */
export function openingOf({ sums, movements, closingNanos }: DocumentFacts): bigint {
  const moved = movements.reduce((sum, movement) => sum + signed(movement), 0n);
  return closingNanos - moved + usageOf(sums);
}

export function makeContent(facts: DocumentFacts, edition: Edition): DocumentContent {
  const { seller, user } = facts;
  const tax = taxFor(seller, { country: user?.billing.country ?? "", taxId: user?.billing.taxinfo ?? "" });
  const lines = makeLines(facts, edition);
  const amounts = roundToSum(
    lines.map((line) => line.amount),
    NANOS_PER_CENT,
  );
  const totalCents = amounts.reduce((sum, amount) => sum + amount, 0n) / NANOS_PER_CENT;
  const taxCents = taxWithin(Number(totalCents), tax.ppm);
  return {
    ...(edition === 1 ? {} : { edition }),
    seller: sellerParty(seller),
    buyer: buyerOf(user, facts.userId),
    currency: "USD",
    lines: lines.map(({ amount: _, ...line }, index) => ({
      ...line,
      amount_cents: Number((amounts[index] ?? 0n) / NANOS_PER_CENT),
    })),
    net_cents: Number(totalCents) - taxCents,
    tax: {
      percent: formatDollars(BigInt(tax.ppm) * 100_000n),
      amount_cents: taxCents,
      note: tax.note,
      name: tax.name,
      country: tax.country,
      is_reverse_charge: tax.isReverseCharge,
    },
    total_cents: Number(totalCents),
    balance: balanceOf(facts, edition === 1 ? facts.movements : withoutEarlyEnds(facts), totalCents),
  };
}

function usageOf(sums: readonly ChargeSum[]): bigint {
  return sums.reduce((total, sum) => total + sum.amount, 0n);
}

function signed({ direction, amount }: MovementSum): bigint {
  return direction === "in" ? amount : -amount;
}

/** Movements without the early ends that are lines of the invoice. */
function withoutEarlyEnds({ movements, earlyEnds }: DocumentFacts): readonly MovementSum[] {
  const taken = (code: EarlyEnd["code"]) =>
    earlyEnds.reduce((sum, end) => (end.code === code ? sum + end.amount : sum), 0n);
  return movements.flatMap((movement) => {
    const { code, direction, amount } = movement;
    if (direction === "in" || (code !== "fee" && code !== "refund")) return [movement];
    const rest = amount - taken(code === "fee" ? "fee" : "discount_returned");
    return rest === 0n ? [] : [{ ...movement, amount: nanos(rest) }];
  });
}

function balanceOf(
  facts: DocumentFacts,
  movements: readonly MovementSum[],
  usageCents: bigint,
): DocumentContent["balance"] {
  const { closingNanos } = facts;
  const openingNanos = openingOf(facts);
  const cents = (amount: bigint) => roundHalfUp(amount, NANOS_PER_CENT) / NANOS_PER_CENT;
  const [opening, closing] = [cents(openingNanos), cents(closingNanos)];
  const moved = roundToSum(movements.map(signed), NANOS_PER_CENT).map((amount) => amount / NANOS_PER_CENT);
  const rounding = closing - opening - moved.reduce((sum, amount) => sum + amount, 0n) + usageCents;
  return {
    opening_cents: Number(opening),
    entries: movements.map((movement, index) => ({
      label: labelOf(movement),
      amount_cents: Number(moved[index] ?? 0n),
    })),
    usage_cents: Number(usageCents),
    rounding_cents: Number(rounding),
    closing_cents: Number(closing),
    opening_nanos: String(openingNanos),
    closing_nanos: String(closingNanos),
  };
}

function labelOf({ code, direction }: MovementSum): string {
  switch (code) {
    case "payment":
      return direction === "in" ? "Payments received" : "Payments taken back";
    case "payment_returned":
      return direction === "in" ? "Payments restored" : "Payments returned";
    case "credit_granted":
      return direction === "in" ? "Credit granted" : "Credit taken back";
    case "credit_transfer":
      return direction === "in" ? "Transfers received" : "Transfers sent";
    case "host_credit":
      return direction === "in" ? "Credited by hosts" : "Credited to renters";
    case "write_off":
      return "Written off";
    case "storage_owed":
      return "Storage paid late";
    case "taken_back":
      // In: from others for the user's own dispute, or back after another's. Out: for another's dispute, or back to
      // others.
      return direction === "in" ? "Moved to you because of disputes" : "Moved from you because of disputes";
    case "earnings_taken_back":
      return "Earnings taken back";
    case "correction":
      return direction === "in" ? "Corrections in your favour" : "Corrections charged";
    case "grant_released":
      return "Grants released";
    case "fee":
      return "Fees for early ends";
    case "prepay":
      return "Deposits";
    case "refund":
      return direction === "in" ? "Deposits" : "Discounts given back";
    case "payout":
    case "payout_returned":
      return "Payouts";
  }
}

/** `2026-000042`, after the seller's prefix. */
export function numberOf(prefix: string, year: number, sequence: number): string {
  return `${prefix}${year}-${String(sequence).padStart(6, "0")}`;
}
