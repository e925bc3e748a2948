import { readMaxPrice } from "../../../base/hourly-price.ts";
import { formatDollars, nanos, toDollars, type Nanos } from "../../../base/money.ts";
import type { Wish } from "../../rental/instances/index.ts";
import { usualPrice, type PricedOffer } from "../../supply/market/index.ts";

/** What a worker of a group may cost an hour at most, its disk included. */
export type WorkerPrice = {
  /** Undefined until the market has a price for what the group asks: nothing is rented before. */
  readonly maxNanosPerHour: Nanos | undefined;
  /** Its owner chose it; otherwise it follows from the market. */
  readonly isMaxByOwner: boolean;
};

/**
 * A maximum that nobody chose is so many times the market's usual price. Prices of one GPU model differ by a factor of two
 * between hosts, and in a shortage they may double: three keeps such a group renting and stops a bait at the next dollar.
 */
const USUAL_PRICE_FACTOR = 3n;

/** So many offers are looked at for the usual price, the longest listed first: who lists many today changes nothing. */
const OFFERS_MAX = 500;

type Search = (query: Readonly<Record<string, unknown>>) => readonly PricedOffer[];

/** The maximum that follows from the market now; undefined when nothing on it matches. */
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
  // What is free today has no usual price to multiply: a cent an hour lets its disk cost something.
  return usual === undefined ? undefined : nanos(usual > 0n ? usual * USUAL_PRICE_FACTOR : FREE_MAX_NANOS);
}

const FREE_MAX_NANOS = 10_000_000n;

/**
 * The maximum after a request. `max_dph` sets it; 0 gives it back to the market. Not said, one that its owner chose
 * stays, and one by the market is taken anew when the group asks for something else.
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
  if (current !== undefined && sent === undefined && (current.isMaxByOwner || !isOtherSearch)) return current;
  return { maxNanosPerHour: byMarket(), isMaxByOwner: false };
}

/** Names under which a search knows the price with the disk. The limit goes under one that the search leaves free. */
const TOTAL_NAMES = ["dphtotal", "dph_total", "dph"] as const;
/** Totals are doubles in a search: what is a hair above the maximum is found too, and then looked at exactly. */
const ROUNDING_DOLLARS = 1e-8;

/** The search with the maximum as a condition, so that dear offers do not crowd out the others. A bid pays what it offers. */
export function withinMaximum(
  query: Readonly<Record<string, unknown>>,
  maxNanosPerHour: Nanos,
): Readonly<Record<string, unknown>> {
  const free = TOTAL_NAMES.find((name) => !(name in query));
  if (free === undefined || query["type"] === "bid") return query;
  return { ...query, [free]: { lte: toDollars(maxNanosPerHour) + ROUNDING_DOLLARS } };
}

/** How the maximum of a group came about, for its history. */
export function maximumSentence(groupId: number, maxNanosPerHour: Nanos): string {
  const price = `$${formatDollars(maxNanosPerHour)} an hour`;
  return `A worker of worker group ${groupId} may cost at most ${price}: ${USUAL_PRICE_FACTOR} times the market's usual price for what the group asks. max_dph changes it.`;
}
