import { offerGpuNames } from "../../../../sdk/src/index.ts";
import { queryClient } from "../../api/query-client.ts";
import { askPlain } from "../../api/query.ts";
import { toSearch } from "../../text/conditions.ts";
import { parseSort } from "../../ui/table-types.ts";
import { oneOf, searchOf, text, whole } from "../../search.ts";
import { OFFER_TYPES, sortFieldOf } from "./fields.ts";
import { BY_SCORE, FIRST_ROWS, offerCountQuery, offersQuery } from "./offers.ts";

/** Reads the search parameters of the market's address. */
export const marketSearch = searchOf({
  q: text,
  type: oneOf(...OFFER_TYPES),
  sort: text,
  offer: whole,
  template: text,
  compare: text,
});

/** The names of the GPUs on the market, by which words of a search are understood. */
export const gpuNamesQuery = askPlain("offer.gpu-names", offerGpuNames);

/** Begins the search that the page will show, before the page is drawn. */
export function beginSearch(search: Readonly<Record<string, unknown>>): void {
  const { q = "", type = "ondemand", sort } = marketSearch(search);
  const { key, isDescending } = parseSort(sort) ?? BY_SCORE;
  // Without the names a text with words beside its conditions is another search; then the page itself asks.
  const order = { sort: sortFieldOf(key), isAscending: !isDescending };
  void queryClient.prefetchQuery(offersQuery({ q: toSearch(q, []).q, type, limit: FIRST_ROWS, ...order }));
  void queryClient.prefetchQuery(offerCountQuery);
  void queryClient.prefetchQuery(gpuNamesQuery);
}
