import { asId, type InstanceId, type UserId } from "../../../../../base/ids.ts";

/** What a booking moves: out of credit, or as a loss; or back to one of the two, what the house had advanced apart. */
export type ReturnPart = "taken" | "lost" | "credit" | "advance" | "losses";

const PARTS: readonly ReturnPart[] = ["taken", "lost", "credit", "advance", "losses"];

/** Names the transfer by which a payment became credit. */
export function paymentKey(intentId: string): string {
  return `payment:stripe:${intentId}`;
}

/** Names the transfer of one part of the so-manieth booking for what went back. */
export function returnKey(key: string, bookingNumber: number, part: ReturnPart): string {
  return `payment_returned:stripe:${key}:${bookingNumber}:${part}`;
}

export type DepositKind = `deposit:${number}`;

/** A deposit, or an account of somebody else than the payer: what is taken from it for a return, or given back to it. */
export type TakenFrom = {
  readonly kind: "credit" | "earnings" | DepositKind;
  readonly userId: UserId;
  /** Whose credit the money came through on its way from the payer, in order; the owner of a deposit is the last of them. */
  readonly through: readonly UserId[];
};

/** Names where something was taken, with the way that it came there: `earnings:9`, or `earnings:9:through:5,7`. */
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

/** Names the transfer that takes a part from an account, or gives it back, in one booking of a return. */
export function takingKey(
  verb: "taken_back" | "given_back",
  { key, bookingNumber }: { readonly key: string; readonly bookingNumber: number },
  from: TakenFrom,
): string {
  return `${verb}:stripe:${key}:${bookingNumber}:${nameTaken(from)}`;
}

/** The names of all transfers that there may be after so many bookings. */
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

/** Where a transfer of `takingKey` was taken, as `nameTaken` names it. A return's own key may have colons. */
export function namedByKey(key: string): string {
  return /:\d+:((?:credit|earnings|deposit:\d+):\d+(?::through:[\d,]+)?)$/.exec(key)?.[1] ?? key;
}
