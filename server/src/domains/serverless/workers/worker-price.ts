import { readMaxPrice } from "../../../base/hourly-price.ts";
import { formatDollars, nanos, toDollars, type Nanos } from "../../../base/money.ts";
import type { Wish } from "../../rental/instances/index.ts";
import { usualPrice, type PricedOffer } from "../../supply/market/for-serverless.ts";

/** The highest price of a worker of a group per hour, its disk included. */
export type WorkerPrice = {
  /** Missing until the market has a price for the group's search: nothing is rented before. */
  readonly maxNanosPerHour: Nanos | undefined;
  /** True if its owner chose it; otherwise it follows from the market. */
  readonly isMaxByOwner: boolean;
};

/**
 * The maximum of a group whose owner chose none is this many times the market's usual price. Prices of one GPU model
 * differ by a factor of two between hosts, and in a shortage they may double: a factor of three keeps such a group
 * renting, and stops at bait prices.
 */
const USUAL_PRICE_FACTOR = 3n;

/**
 * The usual price is taken from this many offers, the longest listed first, so that many new listings change nothing.
 */
const OFFERS_MAX = 500;

type Search = (query: Readonly<Record<string, unknown>>) => readonly PricedOffer[];

/** The maximum that follows from the market now; undefined when no offer matches. */
export function maximumByMarket(
  {
    query,
    wish,
  }: { readonly query: Readonly<Record<string, unknown>>; readonly wish: Pick<Wish, "launch" | "bidNanosPerHour"> },
  search: Search,
): Nanos | undefined {
  const { bidNanosPerHour, launch } = wish;
  const asked = { ...query, allocated_storage: launch.disk_gb, order: [["id", "asc"]], limit: OFFERS_MAX };
  const usual = usualPrice(search(asked), { diskGb: launch.disk_gb, bidNanosPerHour });
  // Free offers have no usual price to multiply: a cent an hour covers their disk.
  return usual === undefined ? undefined : nanos(usual > 0n ? usual * USUAL_PRICE_FACTOR : FREE_MAX_NANOS);
}

const FREE_MAX_NANOS = 10_000_000n;

/**
 * The maximum after a request. `max_dph` sets it; 0 gives it back to the market. Without the field, an owner's choice
 * stays, and a maximum by the market is computed again when the group's search changes.
 */
export function planWorkerPrice(
  sent: number | undefined,
  {
    current,
    isOtherSearch,
    byMarket,
  }: {
    readonly current: WorkerPrice | undefined;
    readonly isOtherSearch: boolean;
    readonly byMarket: () => Nanos | undefined;
  },
): WorkerPrice {
  const chosen = sent === 0 ? undefined : readMaxPrice("max_dph", sent);
  if (chosen !== undefined) return { maxNanosPerHour: chosen, isMaxByOwner: true };
  if (current !== undefined && sent === undefined && (current.isMaxByOwner || !isOtherSearch)) {
    // Callers spread the answer over a whole group: nothing but the price may be in it.
    const { maxNanosPerHour, isMaxByOwner } = current;
    return { maxNanosPerHour, isMaxByOwner };
  }
  return { maxNanosPerHour: byMarket(), isMaxByOwner: false };
}

/** Names of the price with the disk in a search. The limit uses one that the search leaves free. */
const TOTAL_NAMES = ["dphtotal", "dph_total", "dph"] as const;
/**
 * Totals are floating-point in a search: offers slightly above the maximum are found too, and then compared exactly.
 */
const ROUNDING_DOLLARS = 1e-8;

/**
 * The search with the maximum as a condition, so that dear offers do not crowd out the others. A bid pays its own
 * price.
 */
export function withinMaximum(
  query: Readonly<Record<string, unknown>>,
  maxNanosPerHour: Nanos,
): Readonly<Record<string, unknown>> {
  const free = TOTAL_NAMES.find((name) => !(name in query));
  if (free === undefined || query["type"] === "bid") return query;
  return { ...query, [free]: { lte: toDollars(maxNanosPerHour) + ROUNDING_DOLLARS } };
}

/** The sentence about the origin of a group's maximum, for its history. */
export function maximumSentence(groupId: number, maxNanosPerHour: Nanos): string {
  const price = `$${formatDollars(maxNanosPerHour)} an hour`;
  return `A worker of worker group ${groupId} may cost at most ${price}: ${USUAL_PRICE_FACTOR} times the market's usual price for what the group asks. max_dph changes it.`;
}
