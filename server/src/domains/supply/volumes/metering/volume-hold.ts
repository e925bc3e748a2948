import { mulDivCeil, nanos, SECONDS_PER_MONTH, type Nanos } from "../../../../base/money.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** How late a settlement may be: the hold covers this time too. */
const MARGIN_S = 600;
const BYTES_PER_GB = 1_000_000_000n;

/** Time whose cost is set aside when a volume is rented. */
export const FIRST_HOLD_SECONDS = 6 * HOUR_S;
/**
 * Seconds between two settlements of a volume, the preferred first: the shorter ones are for renters with less credit.
 */
export const HOLD_PERIODS: readonly number[] = [DAY_S, FIRST_HOLD_SECONDS, HOUR_S];

type Priced = { readonly sizeBytes: bigint; readonly priceNanosPerGbMonth: bigint };

/** Cost of a volume for this time and for the time by which its next settlement may be late; rounded up. */
export function volumeHoldAmount({ sizeBytes, priceNanosPerGbMonth }: Priced, seconds: number): Nanos {
  const time = BigInt(seconds + MARGIN_S);
  return nanos(mulDivCeil(priceNanosPerGbMonth * sizeBytes, time, SECONDS_PER_MONTH * BYTES_PER_GB));
}
