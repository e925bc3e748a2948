import { invalid } from "../../../../base/errors.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";
import { GB_PRICE_DOLLARS_MAX, HOUR_PRICE_DOLLARS_MAX } from "../../../../base/price-limits.ts";
import type { EndingRental } from "../../../money/deposits/index.ts";
import { refuseDearStorage, refuseDearTraffic, type PriceCeilings } from "../../../../base/price-ceilings.ts";
import type { Terms } from "../../hosts/index.ts";

/** Fields of a host's listing request. Absent ones stay. Dollars and GB, as on the wire. */
export type ListingRequest = {
  readonly price_gpu?: number;
  readonly price_disk?: number;
  readonly price_inetu?: number;
  readonly price_inetd?: number;
  readonly price_min_bid?: number;
  readonly min_chunk?: number;
  readonly end_date?: number;
  readonly credit_discount_max?: number;
  readonly duration?: number | string;
  readonly vol_size?: number;
  readonly vol_price?: number;
};

const GB_PRICES: ReadonlySet<string> = new Set(["price_disk", "price_inetu", "price_inetd", "vol_price"]);
const HOUR_S = 3600;
const DAY_S = 86_400;
/** The end of the year 9999: milliseconds sent instead of seconds lie beyond it. */
const LAST_S = 253_402_300_799;

/** Months and years of a listing, as in the published prices: 30 days, and 365. */
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  hour: HOUR_S,
  day: DAY_S,
  week: 7 * DAY_S,
  month: 30 * DAY_S,
  year: 365 * DAY_S,
};

export type TermsLimits = { readonly deviceCount: number; readonly now: Date; readonly ceilings: PriceCeilings };

/** The terms that a request leads to; throws `invalid` naming the field at fault. */
export function planTerms(request: ListingRequest, current: Terms, { deviceCount, now, ceilings }: TermsLimits): Terms {
  if (request.vol_size === 0 && request.vol_price !== undefined) {
    throw invalid("vol_price", "vol_price makes no sense with a vol_size of 0, which lists no volume");
  }
  const price = (field: keyof ListingRequest, kept: Nanos) => {
    const dollars = request[field];
    return dollars === undefined ? kept : readPrice(Number(dollars), field);
  };
  // A kept value from before a ceiling was lowered is lowered to it without an error.
  const traffic = (field: keyof ListingRequest, kept: Nanos) => {
    const asked = price(field, least(kept, ceilings.trafficNanosPerGb));
    refuseDearTraffic(field, asked, ceilings);
    return asked;
  };
  const storage = price("price_disk", least(current.priceDiskNanosPerGbMonth, ceilings.storageNanosPerGbMonth));
  refuseDearStorage("price_disk", storage, ceilings);
  const priceDeviceNanosPerHour = price("price_gpu", current.priceDeviceNanosPerHour);
  return {
    priceDeviceNanosPerHour,
    priceMinBidNanosPerHour: planMinBid(
      request.price_min_bid,
      current.priceMinBidNanosPerHour,
      priceDeviceNanosPerHour,
    ),
    priceDiskNanosPerGbMonth: storage,
    priceInetUpNanosPerGb: traffic("price_inetu", current.priceInetUpNanosPerGb),
    priceInetDownNanosPerGb: traffic("price_inetd", current.priceInetDownNanosPerGb),
    minChunk: planChunk(request.min_chunk, current.minChunk, deviceCount),
    creditDiscountMaxPermille:
      request.credit_discount_max === undefined
        ? current.creditDiscountMaxPermille
        : readDiscount(request.credit_discount_max),
    ...planEnd(request, current, now),
  };
}

function least(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

/** The price of a volume listing; throws `invalid` naming the field when it is no price, or above the ceiling. */
export function readVolumePrice(dollars: number, ceilings: PriceCeilings): Nanos {
  const price = readPrice(dollars, "vol_price");
  refuseDearStorage("vol_price", price, ceilings);
  return price;
}

/** The nano-dollars of a price; throws `invalid` naming the field. */
export function readPrice(dollars: number, field: string): Nanos {
  const most = GB_PRICES.has(field) ? GB_PRICE_DOLLARS_MAX : HOUR_PRICE_DOLLARS_MAX;
  const price = parseDollars(dollars);
  if (price === undefined || price < 0n || dollars < 0 || dollars > most) {
    throw invalid(field, `${field} must be from 0 to ${most} dollars`);
  }
  return price;
}

/** A minimum bid above the fixed price would ask more of renters who can be evicted; a kept one is lowered to it. */
function planMinBid(dollars: number | undefined, kept: Nanos, fixed: Nanos): Nanos {
  if (dollars === undefined) return kept > fixed ? fixed : kept;
  const minBid = readPrice(dollars, "price_min_bid");
  if (minBid > fixed) throw invalid("price_min_bid", "price_min_bid must not be above the price of a GPU, price_gpu");
  return minBid;
}

function planChunk(chunk: number | undefined, kept: number, deviceCount: number): number {
  if (chunk === undefined) return kept;
  const most = Math.max(1, deviceCount);
  if (!(Number.isInteger(chunk) && chunk >= 1 && chunk <= most)) {
    throw invalid("min_chunk", `min_chunk must be a whole number from 1 to ${most}, as many as the machine has`);
  }
  return chunk;
}

/** Beyond it, prepaying more would last for less: no host gives more than half (docs/reserved.md). */
const DISCOUNT_MAX = 0.5;

function readDiscount(fraction: number): number {
  if (!(fraction >= 0 && fraction <= DISCOUNT_MAX)) {
    throw invalid("credit_discount_max", `credit_discount_max must be a fraction from 0 to ${DISCOUNT_MAX}`);
  }
  return Math.round(fraction * 1000);
}

type End = Pick<Terms, "offerEndAt" | "offerDurationS">;

/** A fixed end, or one that moves on daily; a request without either keeps the present end, if that lies ahead. */
function planEnd({ end_date: endDate, duration }: ListingRequest, current: Terms, now: Date): End {
  if (endDate !== undefined && duration !== undefined) {
    throw invalid("duration", "duration and end_date exclude each other: the end is fixed, or it moves");
  }
  if (endDate !== undefined) return { offerEndAt: readEnd(endDate, now), offerDurationS: undefined };
  const durationS = duration === undefined ? current.offerDurationS : readDuration(duration);
  if (durationS !== undefined) return { offerEndAt: endAfter(durationS, now), offerDurationS: durationS };
  if (current.offerEndAt <= now) {
    throw invalid("end_date", "end_date or duration is required: the end of the last listing has passed");
  }
  return { offerEndAt: current.offerEndAt, offerDurationS: undefined };
}

function readEnd(seconds: number, now: Date): Date {
  if (!(seconds <= LAST_S && seconds * 1000 > now.getTime())) {
    throw invalid("end_date", "end_date must lie in the future, in seconds since 1970 and before the year 10000");
  }
  return new Date(seconds * 1000);
}

/** Seconds as a number or text, or a count of hours, days, weeks, months or years; throws `invalid`. */
export function readDuration(duration: number | string): number {
  const [, count = "", unit] = /^\s*(\d{1,12}(?:\.\d{1,30})?)\s*([a-z]+)?\s*$/i.exec(String(duration)) ?? [];
  const unitSeconds = unit === undefined ? 1 : UNIT_SECONDS[unit.toLowerCase().replace(/s$/, "")];
  const seconds = Math.floor(Number(count) * (unitSeconds ?? Number.NaN));
  if (count === "" || !(seconds >= HOUR_S && seconds <= LAST_S)) {
    const message =
      'duration must be a text such as "3 days", "2 weeks", "1 month", "1 year", or seconds from an hour on';
    throw invalid("duration", message);
  }
  return seconds;
}

function endAfter(seconds: number, now: Date): Date {
  const endMs = now.getTime() + seconds * 1000;
  if (endMs > LAST_S * 1000) throw invalid("duration", "duration must end before the year 10000");
  return new Date(endMs);
}

/**
 * True when a rental is extended to the new end of the listing: only to a later one, and only if nothing that it pays
 * has become dearer. Its own prices never change.
 */
export function isExtendedBy({ isBid, deviceCount, endAt, prices }: EndingRental, terms: Terms): boolean {
  const perDevice = isBid ? terms.priceMinBidNanosPerHour : terms.priceDeviceNanosPerHour;
  return (
    endAt < terms.offerEndAt &&
    perDevice * BigInt(deviceCount) <= prices.priceNanosPerHour &&
    terms.priceDiskNanosPerGbMonth <= prices.storageNanosPerGbMonth &&
    terms.priceInetUpNanosPerGb <= prices.inetUpNanosPerGb &&
    terms.priceInetDownNanosPerGb <= prices.inetDownNanosPerGb
  );
}
