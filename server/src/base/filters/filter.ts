/*
 * The filter language of the contract, `{field: {operator: value}}`, as data. A search parses a request into a list of
 * conditions (all must hold) and then either compiles it for rows in memory or translates it for its own tables. Both
 * give the same answer on every row; null is the case where they could differ, so it is defined here:
 * a row without a value satisfies `eq null`, `neq x`, `in` a list that holds null and `notin` a list that does not,
 * and nothing else. `neq null` means "has a value". An empty `in` holds for no row, an empty `notin` for all.
 */

export type FilterScalar = string | number | boolean | null;

/** `time` is seconds since the epoch, as the contract writes it. Texts compare by code point, `false` is before `true`. */
export type ColumnType = "integer" | "number" | "text" | "boolean" | "time";

export type Column<Row> = {
  readonly type: ColumnType;
  /** The row's value in the type of the column; undefined counts as null. */
  readonly get: (row: Row) => FilterScalar | undefined;
};

/** Columns that a search can filter and sort by, under the names that callers use. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;

/** Names and types of the columns without access to values: enough to read a request. */
export type ColumnTypes = Readonly<Record<string, { readonly type: ColumnType }>>;

export const COMPARISONS = ["eq", "neq", "lt", "lte", "gt", "gte"] as const;
export type Comparison = (typeof COMPARISONS)[number];
export const MEMBERSHIPS = ["in", "notin"] as const;
export type Membership = (typeof MEMBERSHIPS)[number];
export const OPERATORS: readonly string[] = [...COMPARISONS, ...MEMBERSHIPS];

/** One condition on one column. Values are already of the column's type; orderings never compare with null. */
export type Filter =
  | { readonly kind: "compare"; readonly column: string; readonly operator: Comparison; readonly value: FilterScalar }
  | {
      readonly kind: "member";
      readonly column: string;
      readonly operator: Membership;
      readonly values: readonly FilterScalar[];
    };

export type Direction = "asc" | "desc";
export type SortKey = { readonly column: string; readonly direction: Direction };

/** The column of this name. Names come from callers, so `constructor` and the like must find nothing. */
export function findColumn<Each>(columns: Readonly<Record<string, Each>>, name: string): Each | undefined {
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}
