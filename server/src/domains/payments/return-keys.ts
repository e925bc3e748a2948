/** What a booking moves: out of credit, or as a loss; or back to one of the two. */
export type ReturnPart = "taken" | "lost" | "credit" | "losses";

const PARTS: readonly ReturnPart[] = ["taken", "lost", "credit", "losses"];

/** Names the transfer of one part of the so-manieth booking for what went back. */
export function returnKey(key: string, bookingNumber: number, part: ReturnPart): string {
  return `payment_returned:stripe:${key}:${bookingNumber}:${part}`;
}

/** The names of all transfers that there may be after so many bookings. */
export function returnKeysOf({
  key,
  bookedCount,
}: {
  readonly key: string;
  readonly bookedCount: number;
}): readonly string[] {
  return Array.from({ length: bookedCount }, (_, index) => PARTS.map((part) => returnKey(key, index + 1, part))).flat();
}
