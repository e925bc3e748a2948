import { HOLD_SECONDS } from "../../../../base/stop-times.ts";
import { mulDivCeil, SECONDS_PER_HOUR, SECONDS_PER_MONTH, nanos, type Nanos } from "../../../../base/money.ts";

/** Bytes each way that a hold covers for a period, beside twice the traffic of the last one. */
const TRAFFIC_ALLOWANCE_BYTES = 1_000_000_000n;
const BYTES_PER_GB = 1_000_000_000n;

type Rates = {
  readonly priceNanosPerHour: bigint;
  readonly storageNanosPerGbMonth: bigint;
  readonly diskBytes: bigint;
};

/**
 * The amount to set aside for this many seconds of a run, rounded up and at least one nano-dollar. Until the first
 * settlement, which comes when it runs, a hold is for ten minutes (`HOLD_SECONDS`).
 */
export function holdAmount(
  { priceNanosPerHour, storageNanosPerGbMonth, diskBytes }: Rates,
  seconds: number = HOLD_SECONDS,
): Nanos {
  const time = BigInt(seconds);
  const running = mulDivCeil(priceNanosPerHour, time, SECONDS_PER_HOUR);
  const storage = mulDivCeil(storageNanosPerGbMonth * diskBytes, time, SECONDS_PER_MONTH * BYTES_PER_GB);
  const amount = running + storage;
  return nanos(amount > 0n ? amount : 1n);
}

/** The part of a hold for the traffic of a period. */
export function trafficAllowance(
  prices: { readonly inetUpNanosPerGb: bigint; readonly inetDownNanosPerGb: bigint },
  lastPeriodNanos: bigint,
): Nanos {
  const { inetUpNanosPerGb: up, inetDownNanosPerGb: down } = prices;
  return nanos(mulDivCeil(up + down, TRAFFIC_ALLOWANCE_BYTES, BYTES_PER_GB) + 2n * lastPeriodNanos);
}
