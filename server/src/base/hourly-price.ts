import { invalid } from "./errors.ts";
import { nanos, parseDollars, SECONDS_PER_HOUR, SECONDS_PER_MONTH, type Nanos } from "./money.ts";

const BYTES_PER_GB = 1_000_000_000;

/** Nano-dollars an hour for the disk of an instance. */
export function storageNanosPerHour(disk: {
  readonly storageNanosPerGbMonth: bigint;
  readonly diskBytes: bigint;
}): bigint {
  return (disk.storageNanosPerGbMonth * disk.diskBytes * SECONDS_PER_HOUR) / (SECONDS_PER_MONTH * BigInt(BYTES_PER_GB));
}

export function bytesOf(diskGb: number): bigint {
  return BigInt(Math.round(diskGb * BYTES_PER_GB));
}

/** The price of an offer as a search shows it: dollars an hour, and dollars per GB and month. */
export type FoundPrice = { readonly dph_base: number; readonly storage_cost: number };

/** The offer's hourly cost with a disk of this size, in nano-dollars, counted as when it is rented. */
export function priceFound(offer: FoundPrice, diskGb: number): Nanos | undefined {
  const [base, storage] = [parseDollars(offer.dph_base), parseDollars(offer.storage_cost)];
  if (base === undefined || storage === undefined) return undefined;
  return nanos(base + storageNanosPerHour({ storageNanosPerGbMonth: storage, diskBytes: bytesOf(diskGb) }));
}

/** An hourly price above every price on the market. */
const MAX_PRICE_DOLLARS = 100_000;

/**
 * The most that somebody wants to pay an hour, as it is sent in dollars; undefined when it is not. Throws `invalid` naming
 * the field when it is no number above 0 and up to 100,000.
 */
export function readMaxPrice(field: string, dollars: unknown): Nanos | undefined {
  if (dollars === undefined || dollars === null) return undefined;
  const amount = typeof dollars === "number" && dollars <= MAX_PRICE_DOLLARS ? parseDollars(dollars) : undefined;
  if (amount !== undefined && amount > 0n) return amount;
  throw invalid(field, `${field} must be a number of dollars an hour above 0 and up to ${MAX_PRICE_DOLLARS}`);
}
