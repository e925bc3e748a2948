import type { GpuFacts, MachineFacts } from "../../../../protocol/index.ts";
import { mulDivFloor, NANOS_PER_DOLLAR, nanos, type Nanos } from "../../base/money.ts";

/** What a host asks for a machine. Prices of devices are per device and hour. */
export type Listing = {
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceMinBidNanosPerHour: Nanos;
  readonly priceDiskNanosPerGbMonth: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
  readonly minChunk: number;
  readonly creditDiscountMaxPermille: number;
  readonly offerEndAt: Date;
};

/** $0.003 an hour per point of the deep-learning score: about what the open market asks for a card of that score. */
const NANOS_PER_DLPERF_HOUR = 3_000_000n;
const CPU_CORE_NANOS_PER_HOUR = 10_000_000n;
const GPU_FLOOR_NANOS_PER_HOUR = 50_000_000n;
const MIN_BID_PERCENT = 50n;
const DISK_NANOS_PER_GB_MONTH = nanos(150_000_000n);
const INET_NANOS_PER_GB = nanos(2_000_000n);
const LISTED_DAYS = 90;
const DAY_MS = 86_400_000;

/** A fair listing for a machine that nobody has priced yet, so that it is on the market from its first minute. */
export function defaultListing(machine: MachineFacts, gpus: readonly GpuFacts[], now: Date): Listing {
  const gpu = gpus[0];
  const price = gpu === undefined ? CPU_CORE_NANOS_PER_HOUR : gpuPrice(gpu);
  return {
    priceDeviceNanosPerHour: nanos(price),
    priceMinBidNanosPerHour: nanos(mulDivFloor(price, MIN_BID_PERCENT, 100n)),
    priceDiskNanosPerGbMonth: DISK_NANOS_PER_GB_MONTH,
    priceInetUpNanosPerGb: INET_NANOS_PER_GB,
    priceInetDownNanosPerGb: INET_NANOS_PER_GB,
    minChunk: 1,
    creditDiscountMaxPermille: 400,
    offerEndAt: new Date(now.getTime() + LISTED_DAYS * DAY_MS),
  };
}

function gpuPrice({ dlperf }: GpuFacts): bigint {
  const byScore = BigInt(Math.round(dlperf)) * NANOS_PER_DLPERF_HOUR;
  const cent = NANOS_PER_DOLLAR / 100n;
  const rounded = (byScore / cent) * cent;
  return rounded > GPU_FLOOR_NANOS_PER_HOUR ? rounded : GPU_FLOOR_NANOS_PER_HOUR;
}
