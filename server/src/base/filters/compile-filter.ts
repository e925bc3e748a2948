import { invariant } from "../invariant.ts";
import { findColumn, type Columns, type Comparison, type Filter, type FilterScalar, type SortKey } from "./filter.ts";

/** Makes one predicate of all conditions, for rows in memory. Without conditions every row passes. */
export function compileFilter<Row>(filters: readonly Filter[], columns: Columns<Row>): (row: Row) => boolean {
  const tests = filters.map((filter) => compileOne(filter, columns));
  const [first, second] = tests;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  return (row) => tests.every((test) => test(row));
}

function compileOne<Row>(filter: Filter, columns: Columns<Row>): (row: Row) => boolean {
  const column = findColumn(columns, filter.column);
  invariant(column !== undefined, `the filter names ${filter.column}, which is not a column`);
  const { get } = column;
  if (filter.kind === "compare") {
    const { operator, value } = filter;
    if (operator === "eq") return (row) => (get(row) ?? null) === value;
    if (operator === "neq") return (row) => (get(row) ?? null) !== value;
    invariant(value !== null, "an ordering needs a value");
    const holds = ordering(operator);
    return (row) => {
      const actual = get(row) ?? null;
      return actual !== null && holds(compareScalars(actual, value));
    };
  }
  const values = new Set(filter.values);
  return filter.operator === "in" ? (row) => values.has(get(row) ?? null) : (row) => !values.has(get(row) ?? null);
}

function ordering(operator: Exclude<Comparison, "eq" | "neq">): (sign: number) => boolean {
  switch (operator) {
    case "lt":
      return (sign) => sign < 0;
    case "lte":
      return (sign) => sign <= 0;
    case "gt":
      return (sign) => sign > 0;
    case "gte":
      return (sign) => sign >= 0;
  }
}

/** A comparator for `toSorted`. Rows without a value come last in both directions; equal rows keep their order. */
export function compileSort<Row>(keys: readonly SortKey[], columns: Columns<Row>): (left: Row, right: Row) => number {
  const parts = keys.map(({ column: name, direction }) => {
    const column = findColumn(columns, name);
    invariant(column !== undefined, `the order names ${name}, which is not a column`);
    return { get: column.get, sign: direction === "asc" ? 1 : -1 };
  });
  return (left, right) => {
    for (const { get, sign } of parts) {
      const [a, b] = [get(left) ?? null, get(right) ?? null];
      if (a === b) continue;
      if (a === null) return 1;
      if (b === null) return -1;
      const order = compareScalars(a, b);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

/** Negative, zero or positive, for two values of one type. Texts compare by code point, as the C collation does. */
export function compareScalars(left: Exclude<FilterScalar, null>, right: Exclude<FilterScalar, null>): number {
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  const [a, b] = [Number(left), Number(right)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const [a, b] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (a !== b) return orderOfUnit(a) - orderOfUnit(b);
  }
  return left.length - right.length;
}

/** UTF-16 puts surrogates before U+E000, although the characters they spell come after all others. */
function orderOfUnit(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
