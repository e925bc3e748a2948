import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Terms } from "../../../supply/hosts/index.ts";
import type { Prices, Rental } from "../../../rental/instances/index.ts";

/** What a host lists a machine for now. */
export type ListedTerms = Pick<
  Terms,
  | "priceDeviceNanosPerHour"
  | "priceDiskNanosPerGbMonth"
  | "priceInetUpNanosPerGb"
  | "priceInetDownNanosPerGb"
  | "offerEndAt"
>;

/** A rental with the prices that hold at its end: those of today, or the last ones that its renter has accepted. */
export type EndingRental = Pick<Rental, "isBid" | "deviceCount" | "endAt"> & { readonly prices: Prices };

/** What a rental pays once these prices hold that were agreed before. A bid may have been changed since, and stays. */
export function agreedPrices(
  { isBid, priceNanosPerHour }: { readonly isBid: boolean; readonly priceNanosPerHour: Nanos },
  agreed: Prices,
): Prices {
  return isBid ? { ...agreed, priceNanosPerHour } : agreed;
}

/**
 * What a rental would cost from its end on if it stayed at the listed terms; undefined when there is nothing to ask for:
 * it ends no earlier than they do, or no price rises. A bid pays what it bids, whatever is listed.
 */
export function increaseFor(
  { isBid, deviceCount, endAt, prices }: EndingRental,
  terms: ListedTerms,
): Prices | undefined {
  if (endAt >= terms.offerEndAt) return undefined;
  const listed = {
    priceNanosPerHour: isBid ? prices.priceNanosPerHour : times(terms.priceDeviceNanosPerHour, deviceCount),
    storageNanosPerGbMonth: times(terms.priceDiskNanosPerGbMonth, 1),
    inetUpNanosPerGb: times(terms.priceInetUpNanosPerGb, 1),
    inetDownNanosPerGb: times(terms.priceInetDownNanosPerGb, 1),
  };
  const isHigher =
    listed.priceNanosPerHour > prices.priceNanosPerHour ||
    listed.storageNanosPerGbMonth > prices.storageNanosPerGbMonth ||
    listed.inetUpNanosPerGb > prices.inetUpNanosPerGb ||
    listed.inetDownNanosPerGb > prices.inetDownNanosPerGb;
  return isHigher ? listed : undefined;
}

function times(price: bigint, count: number): Nanos {
  return nanos(price * BigInt(count));
}
