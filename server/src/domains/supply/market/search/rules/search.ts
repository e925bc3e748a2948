import { bindColumns, type OfferContext } from "./offer-columns.ts";
import type { OfferIndex } from "./offer-index.ts";
import { writeOffers } from "./offer-text.ts";
import { rankOffers, type Bundling } from "./ranking.ts";
import type { OfferRecord } from "../../schema.ts";
import { readSearch, type SearchOptions } from "./search-request.ts";
import { selectOffers } from "./selection.ts";

/** Caller and time of a search. */
export type SearchCaller = Pick<OfferContext, "now" | "rentedMachines">;

/** The JSON of a list of offers, and how many match without regard to the limit and to bundles. */
export type SearchAnswer = { readonly offers: string; readonly matching: number };

/**
 * Answers a search. `query` is the flat object of the contract; mistakes are `invalid`. `chosen` names the members of the
 * records to write; undefined writes all.
 */
export function searchText(
  index: OfferIndex,
  query: Readonly<Record<string, unknown>>,
  caller: SearchCaller,
  { chosen, ...options }: SearchOptions & { readonly chosen?: ReadonlySet<string> | undefined } = {},
): SearchAnswer {
  const { ranked, matching, context, isBundled } = find(index, query, { ...caller, options });
  return { offers: writeOffers(index, ranked, { context, isBundled, chosen }), matching };
}

/** The found offers as records, for use inside the server. */
export function searchOffers(
  index: OfferIndex,
  query: Readonly<Record<string, unknown>>,
  caller: SearchCaller,
): readonly OfferRecord[] {
  return JSON.parse(searchText(index, query, caller).offers) as readonly OfferRecord[];
}

/** Number of offers that meet the conditions of a search, without regard to its limit and to bundles. */
export function countOffers(index: OfferIndex, query: Readonly<Record<string, unknown>>, caller: SearchCaller): number {
  const { filters, type, storageGb } = readSearch(query);
  return selectOffers(index, filters, bindColumns(index, { ...caller, type, storageGb })).count;
}

function find(
  index: OfferIndex,
  query: Readonly<Record<string, unknown>>,
  { options, ...caller }: SearchCaller & { readonly options: SearchOptions },
) {
  const { filters, order, limit, isBundled, type, storageGb } = readSearch(query, options);
  const context: OfferContext = { now: caller.now, rentedMachines: caller.rentedMachines, type, storageGb };
  const columnOf = bindColumns(index, context);
  const selection = selectOffers(index, filters, columnOf);
  const matching = selection.count;
  const bundling = isBundled ? bindBundles(index, columnOf) : undefined;
  const ranked = rankOffers(index, selection, { order, limit, columnOf, bundling });
  return { ranked, matching, context, isBundled };
}

/**
 * Equal offers are one row for a caller who sees no difference: neither in being free nor in being rented by the
 * caller.
 */
function bindBundles(index: OfferIndex, columnOf: ReturnType<typeof bindColumns>): Bundling {
  const { machineOf } = index;
  const [rentable, rented] = [columnOf("rentable"), columnOf("rented")];
  if (rentable.kind !== "computed" || rented.kind !== "computed") throw new TypeError("both depend on the search");
  return {
    bundles: index.offers.numbers("bundle_id"),
    flagsOf: (slot) => rentable.at(slot) + 2 * rented.at(machineOf[slot] ?? 0),
  };
}
