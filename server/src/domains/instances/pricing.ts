import { mulDivCeil, SECONDS_PER_HOUR, SECONDS_PER_MONTH, nanos, type Nanos } from "../../base/money.ts";

/**
 * What is set aside when a run is wanted: the worst case of the time that may pass before a charge is posted or an empty
 * balance has stopped the machine for certain.
 */
const HOLD_SECONDS = 600n;
const BYTES_PER_GB = 1_000_000_000n;

type Rates = {
  readonly priceNanosPerHour: bigint;
  readonly storageNanosPerGbMonth: bigint;
  readonly diskBytes: bigint;
};

/** The amount that a run must be able to pay before it may start. Rounded up: a hold must cover what it is for. */
export function holdAmount({ priceNanosPerHour, storageNanosPerGbMonth, diskBytes }: Rates): Nanos {
  const running = mulDivCeil(priceNanosPerHour, HOLD_SECONDS, SECONDS_PER_HOUR);
  const storage = mulDivCeil(storageNanosPerGbMonth * diskBytes, HOLD_SECONDS, SECONDS_PER_MONTH * BYTES_PER_GB);
  const amount = running + storage;
  return nanos(amount > 0n ? amount : 1n);
}
