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

/** `value × numerator ÷ denominator`, rounded down: a customer's debt is never rounded up. */
export function mulDivFloor(value: bigint, numerator: bigint, denominator: bigint): bigint {
  invariant(value >= 0n && numerator >= 0n && denominator > 0n, "mulDivFloor takes non-negative operands");
  return (value * numerator) / denominator;
}

/** `value × numerator ÷ denominator`, rounded up: money set aside must surely cover the charge. */
export function mulDivCeil(value: bigint, numerator: bigint, denominator: bigint): bigint {
  invariant(value >= 0n && numerator >= 0n && denominator > 0n, "mulDivCeil takes non-negative operands");
  return (value * numerator + denominator - 1n) / denominator;
}

/** The multiple of a unit that is nearest to an amount; one that lies half way goes up (towards plus infinity). */
export function roundHalfUp(amount: bigint, unitNanos: bigint): bigint {
  invariant(unitNanos > 0n, "a unit is positive");
  return floorDiv(2n * amount + unitNanos, 2n * unitNanos) * unitNanos;
}

/**
 * Rounds parts to multiples of a unit such that they add up to their total, rounded half up. Each is rounded down, and
 * the missing units go, one each, to the parts that lost most; of equals the first comes first.
 */
export function roundToSum(parts: readonly bigint[], unitNanos: bigint): readonly bigint[] {
  const total = parts.reduce((sum, part) => sum + part, 0n);
  return roundToTotal(parts, unitNanos, roundHalfUp(total, unitNanos));
}

/**
 * Rounds parts as `roundToSum` does, to a total that was rounded already, such as that of a part that has parts itself.
 * It has to be the true total, rounded up or down.
 */
export function roundToTotal(parts: readonly bigint[], unitNanos: bigint, totalNanos: bigint): readonly bigint[] {
  const floors = parts.map((part) => floorDiv(part, unitNanos) * unitNanos);
  const missing = (totalNanos - floors.reduce((sum, floor) => sum + floor, 0n)) / unitNanos;
  const lost = parts.map((part, index) => ({ index, by: part - (floors[index] ?? 0n) }));
  const raised = lost
    .filter(({ by }) => by > 0n)
    .toSorted((a, b) => Number(b.by - a.by) || a.index - b.index)
    .slice(0, Number(missing));
  invariant(missing >= 0n && BigInt(raised.length) === missing, "a total is that of its parts");
  const isRaised = new Set(raised.map(({ index }) => index));
  return floors.map((floor, index) => (isRaised.has(index) ? floor + unitNanos : floor));
}

/** A division rounded towards minus infinity, unlike the language's own. */
function floorDiv(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}
