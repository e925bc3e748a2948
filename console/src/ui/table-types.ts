import type { ReactNode } from "react";
import type { Cursor } from "./use-row-keys.ts";

export type Column<Row> = {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Value by which the table sorts; a column without it does not sort. */
  readonly sortBy?: (row: Row) => number | string | null;
  /** Figures stand at the end, so that their digits line up. */
  readonly isFigure?: boolean;
  /** The column that names the row for readers of the screen; the first one unless another says so. */
  readonly isName?: boolean;
  /** True for the three fields that matter, which a phone shows. */
  readonly isOnCard?: boolean;
  readonly width?: number | string;
};

export type Sort = { readonly key: string; readonly isDescending: boolean };

export type TableProps<Row> = {
  /** Names the table for readers of the screen. */
  readonly label: string;
  /** The rows; undefined while they load. */
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string | number;
  /** Shown in the place of the table when there are no rows. */
  readonly empty: ReactNode;
  /** The sort, when the page keeps it in its address; the table keeps it itself otherwise. */
  readonly sort?: Sort | undefined;
  readonly onSort?: (sort: Sort) => void;
  readonly startSort?: Sort;
  /** Called for Enter, and for a click beside links and buttons. */
  readonly onOpen?: (row: Row) => void;
  /** Keys of the chosen rows; with it each row can be chosen. */
  readonly chosen?: ReadonlySet<string | number>;
  readonly onChoose?: (chosen: ReadonlySet<string | number>) => void;
  /** Rows that can be chosen at most, where it is a few; then no box chooses all. */
  readonly chooseMax?: number;
  /** Keys of rows that have just changed, which are marked (parts/use-changed.ts). */
  readonly changed?: ReadonlySet<string>;
  /** The server sorts; the rows stay in its order. */
  readonly isSortedElsewhere?: boolean;
  /** The row that is open beside the table. */
  readonly openKey?: string | number | undefined;
};

/** Properties of a table whose rows are there and sorted. */
export type DrawnProps<Row> = Omit<TableProps<Row>, "rows" | "sort" | "onSort"> & {
  readonly rows: readonly Row[];
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
  readonly onToggle: (row: Row) => void;
  readonly cursor: Cursor;
};

/** The rows in the order of a sort; rows without a value come last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const sortBy = columns.find(({ key }) => key === sort?.key)?.sortBy;
  if (sort === undefined || sortBy === undefined) return rows;
  const direction = sort.isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [sortBy(one), sortBy(other)];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return direction * compare(a, b);
  });
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A sort as it stands in an address: `price`, or `-price` for the largest first. */
export function parseSort(text: string | undefined): Sort | undefined {
  if (text === undefined || text === "") return undefined;
  return text.startsWith("-") ? { key: text.slice(1), isDescending: true } : { key: text, isDescending: false };
}

export function sortText({ key, isDescending }: Sort): string {
  return isDescending ? `-${key}` : key;
}

/** The column that names a row. */
export function nameColumn<Row>(columns: readonly Column<Row>[]): Column<Row> | undefined {
  return columns.find(({ isName }) => isName === true) ?? columns[0];
}
