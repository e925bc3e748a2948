import { invariant } from "./invariant.ts";

declare const nanosBrand: unique symbol;

/** An amount of money: integer nano-dollars (10⁻⁹ $). Storage rents are visible at this scale and vanish at micro. */
export type Nanos = bigint & { readonly [nanosBrand]: true };

export const NANOS_PER_DOLLAR = 1_000_000_000n;
export const SECONDS_PER_HOUR = 3_600n;
/** The contract's month: 30 days. */
export const SECONDS_PER_MONTH = 2_592_000n;
/** Largest amount that a single request may name: one billion dollars. Sums stay far inside PostgreSQL's bigint. */
export const MAX_DOLLARS = 1_000_000_000;

export function nanos(value: bigint): Nanos {
  return value as Nanos;
}

export const ZERO = nanos(0n);

/**
 * Reads dollars as the contract sends them, a JSON number or decimal text, by its decimal digits and never by float
 * arithmetic. Digits below a nano-dollar are cut off. Undefined when it is not a finite decimal within ±10⁹ dollars.
 */
export function parseDollars(value: number | string): Nanos | undefined {
  const match = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(String(value).trim());
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = whole + fraction;
  const shift = 9 - fraction.length + Number(exponent);
  if (digits.length > 400 || Math.abs(shift) > 400) return undefined;
  const magnitude = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift);
  if (magnitude > BigInt(MAX_DOLLARS) * NANOS_PER_DOLLAR) return undefined;
  return nanos(sign === "-" ? -magnitude : magnitude);
}

/** Exact decimal text of an amount in dollars, without trailing zeros: `1.5`, `-0.000000001`. */
export function formatDollars(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % NANOS_PER_DOLLAR).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${magnitude / NANOS_PER_DOLLAR}${fraction === "" ? "" : `.${fraction}`}`;
}

/** The contract's JSON number for an amount. The nearest double: for display, never for further sums. */
export function toDollars(amount: bigint): number {
  return Number(formatDollars(amount));
}

/** `value × numerator ÷ denominator`, rounded down: what a customer owes is never rounded up. */
export function mulDivFloor(value: bigint, numerator: bigint, denominator: bigint): bigint {
  invariant(value >= 0n && numerator >= 0n && denominator > 0n, "mulDivFloor takes non-negative operands");
  return (value * numerator) / denominator;
}

/** `value × numerator ÷ denominator`, rounded up: what must be kept back to be certain that a charge is covered. */
export function mulDivCeil(value: bigint, numerator: bigint, denominator: bigint): bigint {
  invariant(value >= 0n && numerator >= 0n && denominator > 0n, "mulDivCeil takes non-negative operands");
  return (value * numerator + denominator - 1n) / denominator;
}
