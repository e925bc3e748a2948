import { createHash } from "node:crypto";
import type { Hello } from "../../../../../../../protocol/index.ts";
import { mulDivFloor, nanos, type Nanos } from "../../../../../base/money.ts";
import { usualNanosPerHour } from "./gpu-prices.ts";

/** The terms that a host asks for a machine. Device prices are per device and hour. */
export type Listing = {
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceMinBidNanosPerHour: Nanos;
  readonly priceDiskNanosPerGbMonth: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
  readonly minChunk: number;
  readonly creditDiscountMaxPermille: number;
  readonly offerEndAt: Date;
  /** Distance to the end of a listing whose end moves on day by day; undefined when the end is fixed. */
  readonly offerDurationS: number | undefined;
};

/** Usual prices of a core per hour and of a GB of disk per month: the default for a host that has set none. */
export const USUAL_CORE_NANOS_PER_HOUR = 10_000_000n;
export const USUAL_DISK_NANOS_PER_GB_MONTH = nanos(150_000_000n);
const MIN_BID_PERCENT = 50n;
const INET_NANOS_PER_GB = nanos(2_000_000n);
const LISTED_DAYS = 90;
const DAY_S = 86_400;

type Described = Pick<Hello, "host_key" | "machine" | "gpus">;

/** A fair listing for a machine without one, so that it is on the market from its first minute. */
export function defaultListing(described: Described, now: Date): Listing {
  const gpu = described.gpus[0];
  if (described.machine.is_simulated && gpu !== undefined) return inventListing(described, now);
  const price = gpu === undefined ? USUAL_CORE_NANOS_PER_HOUR : usualNanosPerHour(gpu);
  return {
    priceDeviceNanosPerHour: nanos(price),
    priceMinBidNanosPerHour: nanos(mulDivFloor(price, MIN_BID_PERCENT, 100n)),
    priceDiskNanosPerGbMonth: USUAL_DISK_NANOS_PER_GB_MONTH,
    priceInetUpNanosPerGb: INET_NANOS_PER_GB,
    priceInetDownNanosPerGb: INET_NANOS_PER_GB,
    minChunk: 1,
    creditDiscountMaxPermille: 400,
    ...rollingEnd(LISTED_DAYS, now),
  };
}

/** The unit of shares: millionths. */
const WHOLE = 1_000_000;
const NANOS_PER_TENTH_OF_A_CENT = 1_000_000n;
/** Half of the hosts ask within this factor of the median price. */
const PRICE_SPREAD = 1.15;
const [PRICE_FACTOR_MIN, PRICE_FACTOR_MAX] = [0.55, 2.2];
/** A data centre with an uplink of its own asks more. */
const CENTRE_FACTOR = 1.12;
const CENTRE_MBPS_MIN = 2_000;
const DISK_MILLIDOLLARS_PER_GB_MONTH = [30, 50, 80, 100, 100, 150, 150, 150, 200, 300, 600];
const INET_MICRODOLLARS_PER_GB = [0, 0, 1_000, 2_000, 2_000, 2_000, 5_000, 10_000, 20_000];
const DISCOUNT_PERMILLE = [0, 0, 0, 200, 300, 400, 400, 400, 500];
const [LISTED_DAYS_MIN, LISTED_DAYS_MAX] = [3, 270];
/**
 * One host of this many rents out no single GPUs. The first few do, so that a small market has something for everybody.
 */
const HOSTS_PER_BUNDLER = 4;
const BUNDLED_GPUS_MIN = 4;

/**
 * Terms of a simulated host, spread around the market's prices for its GPUs. The same key gives the same terms, so that
 * a simulated market can be repeated.
 */
function inventListing({ host_key: hostKey, machine, gpus }: Described, now: Date): Listing {
  const draw = drawer(hostKey);
  const usual = gpus[0] === undefined ? 0n : usualNanosPerHour(gpus[0]);
  const isCentre = machine.has_static_ip && machine.inet_up_mbps >= CENTRE_MBPS_MIN;
  const spread = PRICE_SPREAD ** (bell(draw("price")) / QUARTER_OF_A_BELL);
  const factor = Math.min(Math.max(spread * (isCentre ? CENTRE_FACTOR : 1), PRICE_FACTOR_MIN), PRICE_FACTOR_MAX);
  const price = roundedPrice(times(usual, factor));
  // Some hosts ask the full price as minimum bid; the others between half and almost all of it.
  const bidShare = draw("wants full bids") < 0.15 ? 1 : 0.45 + 0.5 * draw("bid") ** 0.7;
  const inet = nanos(BigInt(choose(INET_MICRODOLLARS_PER_GB, draw("bandwidth"))) * 1_000n);
  const days = LISTED_DAYS_MIN * (LISTED_DAYS_MAX / LISTED_DAYS_MIN) ** draw("days");
  return {
    priceDeviceNanosPerHour: nanos(price),
    priceMinBidNanosPerHour: nanos(roundedPrice(times(price, bidShare))),
    priceDiskNanosPerGbMonth: nanos(BigInt(choose(DISK_MILLIDOLLARS_PER_GB_MONTH, draw("disk"))) * 1_000_000n),
    priceInetUpNanosPerGb: inet,
    priceInetDownNanosPerGb: inet,
    minChunk: inventChunk(hostKey, gpus.length, draw("chunk")),
    creditDiscountMaxPermille: choose(DISCOUNT_PERMILLE, draw("discount")),
    ...rollingEnd(days, now),
  };
}

/** A host that has set no end keeps its listing on the market. */
function rollingEnd(days: number, now: Date): { readonly offerEndAt: Date; readonly offerDurationS: number } {
  const offerDurationS = Math.round(days * DAY_S);
  return { offerEndAt: new Date(now.getTime() + offerDurationS * 1000), offerDurationS };
}

function inventChunk(hostKey: string, gpuCount: number, fraction: number): number {
  const number = Number(/\d+$/.exec(hostKey)?.[0] ?? 0);
  if (gpuCount < BUNDLED_GPUS_MIN || number % HOSTS_PER_BUNDLER !== 0) return 1;
  return choose([2, 2, 4, gpuCount], fraction);
}

/** Numbers from 0 to 1 that follow from the host's key and their purpose. */
function drawer(hostKey: string): (purpose: string) => number {
  return (purpose) => createHash("sha256").update(`${purpose} of ${hostKey}`).digest().readUInt32BE() / 2 ** 32;
}

function choose(values: readonly number[], fraction: number): number {
  return values[Math.min(Math.floor(fraction * values.length), values.length - 1)] ?? 0;
}

/** A quarter of a normal distribution lies above this value. */
const QUARTER_OF_A_BELL = 0.6745;

/** A normally distributed number from a uniform one: the logistic curve, which is close to it. */
function bell(fraction: number): number {
  const inside = Math.min(Math.max(fraction, 0.001), 0.999);
  return Math.log(inside / (1 - inside)) * 0.614;
}

function times(price: bigint, factor: number): bigint {
  return mulDivFloor(price, BigInt(Math.round(factor * WHOLE)), BigInt(WHOLE));
}

function roundedPrice(price: bigint): bigint {
  const steps = price / NANOS_PER_TENTH_OF_A_CENT;
  return (steps > 0n ? steps : 1n) * NANOS_PER_TENTH_OF_A_CENT;
}
