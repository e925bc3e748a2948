import { compileSort } from "./compile-filter.ts";
import type { Columns, SortKey } from "./filter.ts";
import { listInOrder, readPageToken, writePageToken, type Place } from "./page-token.ts";

/** One page of rows in memory, and the token with which the next page is asked for; null after the last row. */
export type CursorPage<Row> = { readonly rows: readonly Row[]; readonly nextToken: string | null };

/**
 * Cuts a page from rows that are sorted by this order, whose last column tells any two rows apart. The token is the
 * place of the page's last row, so that a list goes on where it was even if that row is gone. Throws `invalid_token`.
 */
export function cutPage<Row>(
  sorted: readonly Row[],
  columns: Columns<Row>,
  {
    name,
    order,
    token,
    limit,
  }: {
    readonly name: string;
    readonly order: readonly SortKey[];
    readonly token: string | undefined;
    readonly limit: number;
  },
): CursorPage<Row> {
  const placeOf = (row: Row): Place => order.map(({ column }) => columns[column]?.get(row) ?? null);
  const list = listInOrder(name, order, columns);
  const place = readPageToken(list, token);
  const start = place === undefined ? 0 : startAfter(sorted.map(placeOf), order, place);
  const rows = sorted.slice(start, start + limit);
  const last = rows.at(-1);
  const hasMore = start + limit < sorted.length && last !== undefined;
  return { rows, nextToken: hasMore ? writePageToken(list, placeOf(last)) : null };
}

/** The first place after that of the token, even if the token's row is gone. */
function startAfter(places: readonly Place[], order: readonly SortKey[], place: Place): number {
  const columns = Object.fromEntries(
    order.map(({ column }, index) => [column, { type: "text", get: (at: Place) => at[index] ?? null }] as const),
  );
  const compare = compileSort<Place>(order, columns);
  const index = places.findIndex((one) => compare(one, place) > 0);
  return index === -1 ? places.length : index;
}
