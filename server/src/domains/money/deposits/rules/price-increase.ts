import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Terms } from "../../../supply/hosts/index.ts";
import type { Prices } from "../../../rental/instances/for-deposits.ts";
import type { Rental } from "../../../rental/instances/index.ts";

/** The prices and the end date of a machine's present listing. */
export type ListedTerms = Pick<
  Terms,
  | "priceDeviceNanosPerHour"
  | "priceDiskNanosPerGbMonth"
  | "priceInetUpNanosPerGb"
  | "priceInetDownNanosPerGb"
  | "offerEndAt"
>;

/** A rental with the prices that hold at its end: today's, or the last ones that its renter has accepted. */
export type EndingRental = Pick<Rental, "isBid" | "deviceCount" | "endAt"> & { readonly prices: Prices };

/** The prices of a rental from the moment on at which agreed prices begin. A bid may have changed since, and stays. */
export function agreedPrices(
  { isBid, priceNanosPerHour }: { readonly isBid: boolean; readonly priceNanosPerHour: Nanos },
  agreed: Prices,
): Prices {
  return isBid ? { ...agreed, priceNanosPerHour } : agreed;
}

/**
 * The prices of a rental after its present end at the listed terms; undefined when there is nothing to ask for: the
 * rental ends no earlier than the listing, or no price rises. A bid pays what it bids, at any listed price.
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
