import { unreachable } from "../../../../../base/invariant.ts";
import type { Movement, MovementCode, MovementSide } from "../../../ledger/for-invoices.ts";

/** Codes that raise or lower a user's credit other than for usage. */
export const CREDIT_CODES = [
  "credit_granted",
  "credit_transfer",
  "prepay",
  "refund",
  "payment",
  "payment_returned",
  "host_credit",
  "write_off",
  "storage_owed",
  "taken_back",
  "correction",
] as const satisfies readonly MovementCode[];

export const PAYOUT_SIDES: readonly MovementSide[] = [
  { code: "payout", account: "earnings", direction: "out" },
  { code: "payout_returned", account: "earnings", direction: "in" },
];

/** Fees are taken from credit, or from a host's earnings. */
export const FEE_SIDES: readonly MovementSide[] = [
  { code: "fee", account: "credit", direction: "out" },
  { code: "fee", account: "earnings", direction: "out" },
];

/**
 * Movements of a host's earnings: returns to renters, bookings by administrators, and credit transfers to the host's
 * own credit.
 */
const EARNING_SIDES: readonly MovementSide[] = [
  { code: "host_credit", account: "earnings", direction: "out" },
  { code: "taken_back", account: "earnings", direction: "out" },
  { code: "taken_back", account: "earnings", direction: "in" },
  { code: "earnings_taken_back", account: "earnings", direction: "out" },
  { code: "correction", account: "earnings", direction: "in" },
  { code: "correction", account: "earnings", direction: "out" },
  { code: "credit_transfer", account: "earnings", direction: "out" },
];

/**
 * Amounts that an early end, or another user's dispute, takes from a deposit; they left the credit when it was prepaid.
 */
const DEPOSIT_SIDES: readonly MovementSide[] = [
  { code: "fee", account: "deposit", direction: "out" },
  { code: "refund", account: "deposit", direction: "out" },
  { code: "taken_back", account: "deposit", direction: "out" },
];

export function bothWays(codes: readonly MovementCode[]): readonly MovementSide[] {
  return codes.flatMap((code) => [
    { code, account: "credit", direction: "in" } as const,
    { code, account: "credit", direction: "out" } as const,
  ]);
}

/** Every movement of a user's money, once each; released grants, which leave earnings and return, are left out. */
export const ALL_SIDES: readonly MovementSide[] = [
  ...bothWays(CREDIT_CODES),
  ...PAYOUT_SIDES,
  ...FEE_SIDES,
  ...EARNING_SIDES,
  ...DEPOSIT_SIDES,
];

export type MovementType = "credit" | "transfer" | "payout" | "refund" | "reserved";

/** The API's type of a movement (docs/contract-rules.md#invoices-and-charges). */
export function typeOf({ code, accountKind }: Pick<Movement, "code" | "accountKind">): MovementType {
  if (accountKind === "deposit") return "reserved";
  switch (code) {
    case "credit_granted":
    case "payment":
    case "host_credit":
    case "write_off":
    case "storage_owed":
    case "correction":
      return "credit";
    case "credit_transfer":
    case "taken_back":
    case "earnings_taken_back":
      return "transfer";
    case "payout":
    case "payout_returned":
    case "fee":
    case "grant_released":
      return "payout";
    case "refund":
    case "payment_returned":
      return "refund";
    case "prepay":
      return "reserved";
    default:
      return unreachable(code);
  }
}

/** The API's `service` of a movement: the way that the money took. */
export function serviceOf(code: MovementCode): string {
  switch (code) {
    case "credit_granted":
    case "host_credit":
    case "write_off":
    case "correction":
      return "credit";
    case "storage_owed":
      return "storage";
    case "credit_transfer":
    case "taken_back":
    case "earnings_taken_back":
      return "transfer";
    case "prepay":
      return "instance_prepay";
    case "payment":
      return "stripe_payments";
    case "payment_returned":
    case "refund":
      return "refund";
    case "payout":
    case "payout_returned":
    case "grant_released":
      return "payout";
    case "fee":
      return "fee";
    default:
      return unreachable(code);
  }
}

/** The sides with a service that a filter wants. */
export function codesOf(isWanted: (service: string) => boolean): readonly MovementSide[] {
  return ALL_SIDES.filter(({ code }) => isWanted(serviceOf(code)));
}

/**
 * The amount with the API's sign: negative for charges to the customer (a card top-up, credit set aside), positive for
 * payouts and refunds. A transfer has the sign that its owner sees, since published clients show it as it is: below zero
 * when it went out. Reversals have the opposite sign.
 */
export function signedAmount(movement: Pick<Movement, "code" | "accountKind" | "direction" | "amount">): bigint {
  const { code, direction, amount } = movement;
  switch (typeOf(movement)) {
    case "credit":
      return direction === "in" ? -amount : amount;
    case "reserved":
      return -amount;
    case "refund":
      return amount;
    case "transfer":
      return netAmount(movement);
    case "payout":
      return code === "payout" ? amount : -amount;
  }
}

/** The amount from the owner's view: positive when it came in, negative when it went out. */
export function netAmount({ direction, amount }: Pick<Movement, "direction" | "amount">): bigint {
  return direction === "in" ? amount : -amount;
}
