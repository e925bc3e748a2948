import { asId, type InstanceId, type UserId } from "../../../../../base/ids.ts";

/**
 * The part of a booking: out of credit or as a loss, or back to either of them; advances of the house are booked apart.
 */
export type ReturnPart = "taken" | "lost" | "credit" | "advance" | "losses";

const PARTS: readonly ReturnPart[] = ["taken", "lost", "credit", "advance", "losses"];

/** The key of the transfer by which a payment became credit. */
export function paymentKey(intentId: string): string {
  return `payment:stripe:${intentId}`;
}

/** The key of the transfer of one part of a return's booking; bookings count from 1. */
export function returnKey(key: string, bookingNumber: number, part: ReturnPart): string {
  return `payment_returned:stripe:${key}:${bookingNumber}:${part}`;
}

/** The keys of the transfers that took credit of the user in this many bookings of a return. */
export function takenKeysOf(key: string, bookedCount: number): readonly string[] {
  return Array.from({ length: bookedCount }, (_, index) => returnKey(key, index + 1, "taken"));
}

export type DepositKind = `deposit:${number}`;

/**
 * A deposit, or an account of another user than the payer, from which a return takes money or to which it gives it
 * back.
 */
export type TakenFrom = {
  readonly kind: "credit" | "earnings" | DepositKind;
  readonly userId: UserId;
  /**
   * Users whose credit the money passed through on its way from the payer, in order; the owner of a deposit is the
   * last.
   */
  readonly through: readonly UserId[];
};

/** Names an account with the way that the money took: `earnings:9`, or `earnings:9:through:5,7`. */
export function nameTaken({ kind, userId, through }: TakenFrom): string {
  return `${kind}:${userId}${through.length === 0 ? "" : `:through:${through.join(",")}`}`;
}

export function isDepositKind(kind: string): kind is DepositKind {
  return kind.startsWith("deposit:");
}

export function kindOfDeposit(instanceId: InstanceId): DepositKind {
  return `deposit:${instanceId}`;
}

export function instanceOfDeposit(kind: DepositKind): InstanceId {
  return asId<InstanceId>(Number(kind.slice("deposit:".length)));
}

/** The key of the transfer that takes a part from an account, or gives it back, in one booking of a return. */
export function takingKey(
  verb: "taken_back" | "given_back",
  { key, bookingNumber }: { readonly key: string; readonly bookingNumber: number },
  from: TakenFrom,
): string {
  return `${verb}:stripe:${key}:${bookingNumber}:${nameTaken(from)}`;
}

/** The keys of all transfers that may exist after this many bookings. */
export function returnKeysOf({
  key,
  bookedCount,
  takings,
}: {
  readonly key: string;
  readonly bookedCount: number;
  readonly takings: readonly TakenFrom[];
}): readonly string[] {
  return Array.from({ length: bookedCount }, (_, index) => {
    const bookingNumber = index + 1;
    return [
      ...PARTS.map((part) => returnKey(key, bookingNumber, part)),
      ...takings.map((from) => takingKey("taken_back", { key, bookingNumber }, from)),
      ...takings.map((from) => takingKey("given_back", { key, bookingNumber }, from)),
    ];
  }).flat();
}

/** The account in a key of `takingKey`, as `nameTaken` names it. The key of the return itself may contain colons. */
export function namedByKey(key: string): string {
  return /:\d+:((?:credit|earnings|deposit:\d+):\d+(?::through:[\d,]+)?)$/.exec(key)?.[1] ?? key;
}
