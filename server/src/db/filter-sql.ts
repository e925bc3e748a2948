import { sql, type RawBuilder } from "kysely";
import type { ColumnType, Direction, Filter, FilterScalar } from "../base/filters/filter.ts";
import { unreachable } from "../base/invariant.ts";

/** A searchable column as SQL: its expression, and the type in which callers see it. */
export type SqlColumn = { readonly type: ColumnType; readonly expression: RawBuilder<unknown> };

/** The condition of a filter on a column; it holds for the same rows as `compileFilter` says in memory. */
export function conditionSql(filter: Filter, { type, expression }: SqlColumn): RawBuilder<boolean> {
  if (filter.kind === "member") return membershipSql(filter, { type, expression });
  const { operator, value } = filter;
  if (value === null) return operator === "eq" ? sql`${expression} is null` : sql`${expression} is not null`;
  const bound = sql`${value}::${sqlTypeOf(type, [value])}`;
  const comparable = typeof value === "string" ? sql`${expression} collate "C"` : expression;
  switch (operator) {
    case "eq":
      return sql`${expression} = ${bound}`;
    case "neq":
      return sql`${expression} is distinct from ${bound}`;
    case "lt":
      return sql`${comparable} < ${bound}`;
    case "lte":
      return sql`${comparable} <= ${bound}`;
    case "gt":
      return sql`${comparable} > ${bound}`;
    case "gte":
      return sql`${comparable} >= ${bound}`;
    default:
      return unreachable(operator);
  }
}

/** One key of an order; rows without a value come last in both directions. */
export function sortSql(column: SqlColumn, direction: Direction): RawBuilder<unknown> {
  const comparable = comparableSql(column);
  return direction === "asc" ? sql`${comparable} asc nulls last` : sql`${comparable} desc nulls last`;
}

/** A key of an order, and its value in the last row of the page before; values must be of the column's type. */
export type PlaceKey = { readonly column: SqlColumn; readonly direction: Direction; readonly value: FilterScalar };

/** Holds for rows that come after this place of an order. */
export function afterSql(place: readonly PlaceKey[]): RawBuilder<boolean> {
  const alternatives = place.map((key, index) => {
    const equal = place.slice(0, index).map(({ column, value }) => {
      const operator = "eq" as const;
      return conditionSql({ kind: "compare", column: "", operator, value }, column);
    });
    return sql<boolean>`(${sql.join([...equal, followsSql(key)], sql` and `)})`;
  });
  return sql`(${sql.join(alternatives, sql` or `)})`;
}

function followsSql({ column, direction, value }: PlaceKey): RawBuilder<boolean> {
  if (value === null) return sql`false`;
  const operator = direction === "asc" ? "gt" : "lt";
  const further = conditionSql({ kind: "compare", column: "", operator, value }, column);
  return sql`(${further} or ${column.expression} is null)`;
}

function membershipSql(
  { operator, values }: Extract<Filter, { readonly kind: "member" }>,
  { type, expression }: SqlColumn,
): RawBuilder<boolean> {
  const present = values.filter((value) => value !== null);
  const isListed = sql<boolean>`coalesce(${expression} = any(${present}::${sqlTypeOf(type, present)}[]), false)`;
  const isIn = values.includes(null) ? sql<boolean>`(${isListed} or ${expression} is null)` : isListed;
  return operator === "in" ? isIn : sql<boolean>`not ${isIn}`;
}

function comparableSql({ type, expression }: SqlColumn): RawBuilder<unknown> {
  return type === "text" ? sql`${expression} collate "C"` : expression;
}

const INTEGER_MAX = 2_147_483_647;

/** The SQL type of the values: an integer that the column's own type cannot hold is compared as a float. */
function sqlTypeOf(type: ColumnType, values: readonly FilterScalar[]): RawBuilder<unknown> {
  switch (type) {
    case "integer":
      return values.every((value) => Number.isInteger(value) && Math.abs(Number(value)) <= INTEGER_MAX)
        ? sql`integer`
        : sql`float8`;
    case "number":
    case "time":
      return sql`float8`;
    case "boolean":
      return sql`boolean`;
    case "text":
      return sql`text`;
    default:
      return unreachable(type);
  }
}
