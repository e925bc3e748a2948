import { formatDollars, roundHalfUp, roundToSum } from "../../base/money.ts";
import type { User } from "../accounts/index.ts";
import type { InstanceName } from "../instances/index.ts";
import type { MovementSum } from "../ledger/index.ts";
import type { ChargeComponent, ChargeSum } from "../metering/index.ts";
import { measured, rateOf } from "./quantity.ts";
import type { Seller } from "./seller.ts";

export type DocumentLine = {
  /** instance-5 or volume-7. */
  readonly source: string;
  readonly component: ChargeComponent;
  readonly description: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly quantity: number;
  readonly unit: string;
  /** Dollars per unit, as decimal text. */
  readonly rate: string;
  /** Whether the price changed, was discounted, or could not be paid in full. */
  readonly is_rate_average: boolean;
  readonly amount_cents: number;
  /** Dollars that were due besides and could not be had, exactly. */
  readonly unpaid: string;
};

type Party = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
};

/** What an invoice says, for ever. Amounts are whole cents: what is shown adds up as it is shown. */
export type DocumentContent = {
  readonly seller: Party;
  readonly buyer: Party & { readonly user_id: number; readonly email: string };
  readonly currency: "USD";
  readonly lines: readonly DocumentLine[];
  readonly net_cents: number;
  readonly tax: { readonly percent: string; readonly amount_cents: number; readonly note: string };
  /** With tax: what the lines add up to, and what was paid from credit. */
  readonly total_cents: number;
  readonly balance: {
    readonly opening_cents: number;
    readonly entries: readonly { readonly label: string; readonly amount_cents: number }[];
    readonly usage_cents: number;
    /** Fractions of a cent that the balance carries on, so that the column adds up. */
    readonly rounding_cents: number;
    readonly closing_cents: number;
    /** Nano-dollars as text: with what the next invoice has to begin. */
    readonly opening_nanos: string;
    readonly closing_nanos: string;
  };
};

/** Everything that an invoice is made of. */
export type DocumentFacts = {
  readonly seller: Seller;
  readonly userId: number;
  /** Undefined for an account that was deleted since. */
  readonly user: User | undefined;
  readonly names: ReadonlyMap<number, InstanceName>;
  readonly sums: readonly ChargeSum[];
  readonly movements: readonly MovementSum[];
  /** Credit and deposits together, at the end of the month. */
  readonly closingNanos: bigint;
};

const NANOS_PER_CENT = 10_000_000n;
const PPM = 1_000_000n;

/** What the balance was when the month began: it follows from what it was at its end. */
export function openingOf({ sums, movements, closingNanos }: DocumentFacts): bigint {
  const moved = movements.reduce((sum, movement) => sum + signed(movement), 0n);
  return closingNanos - moved + usageOf(sums);
}

export function makeContent(facts: DocumentFacts): DocumentContent {
  const { seller, sums } = facts;
  const amounts = roundToSum(
    sums.map((sum) => sum.amount),
    NANOS_PER_CENT,
  );
  const totalCents = amounts.reduce((sum, amount) => sum + amount, 0n) / NANOS_PER_CENT;
  // Half a cent goes up, as everywhere.
  const taxPpm = BigInt(seller.taxPpm);
  const taxCents = (2n * totalCents * taxPpm + PPM + taxPpm) / (2n * (PPM + taxPpm));
  return {
    seller: { name: seller.name, address: seller.address, tax_id: seller.taxId },
    buyer: buyerOf(facts),
    currency: "USD",
    lines: sums.map((sum, index) => lineOf(sum, (amounts[index] ?? 0n) / NANOS_PER_CENT, facts)),
    net_cents: Number(totalCents - taxCents),
    tax: { percent: formatDollars(taxPpm * 100_000n), amount_cents: Number(taxCents), note: seller.taxNote },
    total_cents: Number(totalCents),
    balance: balanceOf(facts, totalCents),
  };
}

function usageOf(sums: readonly ChargeSum[]): bigint {
  return sums.reduce((total, sum) => total + sum.amount, 0n);
}

function signed({ direction, amount }: MovementSum): bigint {
  return direction === "in" ? amount : -amount;
}

function lineOf(sum: ChargeSum, amountCents: bigint, { names }: DocumentFacts): DocumentLine {
  const { component, instanceId, volumeId } = sum;
  const { label, unit, quantity } = measured(component, sum.quantity);
  const { rateNanos, isAverage } = rateOf(sum);
  const name = instanceId === undefined ? undefined : names.get(instanceId)?.label;
  const title = instanceId === undefined ? `Volume ${volumeId}` : `Instance ${instanceId}`;
  return {
    source: instanceId === undefined ? `volume-${volumeId}` : `instance-${instanceId}`,
    component,
    description: `${title}${name === undefined || name === "" ? "" : ` (${name})`}: ${label}`,
    from_ms: sum.from.getTime(),
    to_ms: sum.to.getTime(),
    quantity,
    unit,
    rate: formatDollars(rateNanos),
    is_rate_average: isAverage,
    amount_cents: Number(amountCents),
    unpaid: formatDollars(sum.unpaid),
  };
}

function buyerOf({ user, userId }: DocumentFacts): DocumentContent["buyer"] {
  if (user === undefined) return { user_id: userId, name: `Account ${userId}`, email: "", address: [], tax_id: "" };
  const { fullname, username, email, billing } = user;
  const town = [billing.zip, billing.city].filter((part) => part !== "").join(" ");
  return {
    user_id: userId,
    name: fullname || username,
    email,
    address: [billing.line1, billing.line2, town, billing.country].filter((line) => line !== ""),
    tax_id: billing.taxinfo,
  };
}

function balanceOf(facts: DocumentFacts, usageCents: bigint): DocumentContent["balance"] {
  const { movements, closingNanos } = facts;
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

/** Dollars and cents: `-1,234.50`. */
export function centsText(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}${whole}.${digits.slice(-2)}`;
}
