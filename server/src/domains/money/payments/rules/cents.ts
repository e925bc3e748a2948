import { formatDollars, nanos, NANOS_PER_DOLLAR, type Nanos } from "../../../../base/money.ts";

/** Providers count in whole cents, the ledger in nano-dollars. */
export const NANOS_PER_CENT = NANOS_PER_DOLLAR / 100n;

export function nanosOfCents(cents: bigint): Nanos {
  return nanos(cents * NANOS_PER_CENT);
}

/** The whole cents of an amount; undefined when it has fractions of a cent. */
export function wholeCentsOf(amount: Nanos): bigint | undefined {
  return amount % NANOS_PER_CENT === 0n ? amount / NANOS_PER_CENT : undefined;
}

/** Text such as `$25.00`. */
export function centsText(cents: bigint): string {
  const [whole = "0", fraction = ""] = formatDollars(nanosOfCents(cents)).split(".");
  return `$${whole}.${fraction.padEnd(2, "0")}`;
}
