import { invalid } from "../errors.ts";
import { castValue, describeType, type Casting } from "./cast-value.ts";
import {
  COMPARISONS,
  MEMBERSHIPS,
  OPERATORS,
  findColumn,
  type ColumnTypes,
  type Comparison,
  type Filter,
  type FilterScalar,
  type Membership,
} from "./filter.ts";
import { isPlainObject, readJson, shown } from "./json-input.ts";

export type FilterOptions = {
  /** The parameter that carries the filters, such as `select_filters`; empty when they are the request body itself. */
  readonly source: string;
  readonly unknownFields: "refuse" | "ignore";
  readonly casting: Casting;
  /** True when `{"eq": "any"}` leaves the field unconstrained (offers); false when "any" is a text like all others. */
  readonly isAnyUnconstrained: boolean;
  /** True when a single value after `in` and `notin` stands for a list of one, as clients of offers send. */
  readonly isOneValueAList: boolean;
  /** Other names of columns. The conditions carry the column's own name. */
  readonly aliases?: Readonly<Record<string, string>>;
};

/** A search that tells its caller of every mistake. */
export const STRICT_FILTERS = {
  unknownFields: "refuse",
  casting: "strict",
  isAnyUnconstrained: false,
  isOneValueAList: false,
} as const satisfies Omit<FilterOptions, "source">;

/** Filters of a search. Unknown fields do not fail it, since clients send the fields of their own version. */
export const LENIENT_FILTERS = {
  unknownFields: "ignore",
  casting: "loose",
  isAnyUnconstrained: true,
  isOneValueAList: true,
} as const satisfies Omit<FilterOptions, "source">;

const FIELDS_MAX = 64;
const LIST_VALUES_MAX = 1024;

/**
 * Reads `{field: {operator: value}}`, given as JSON text or as a value that was already parsed; absent means no
 * condition. Every mistake is an `invalid` error that names the field and operator and says what was expected.
 */
export function parseFilters(input: unknown, columns: ColumnTypes, options: FilterOptions): readonly Filter[] {
  const object = readJson(input, options.source || "filters");
  if (object === undefined || object === null) return [];
  if (!isPlainObject(object)) {
    const source = options.source || "filters";
    throw invalid(source, `${source} must be an object {field: {operator: value}}, got ${shown(object)}`);
  }
  const known = Object.entries(object).flatMap(([field, conditions]) => {
    const name = resolveAlias(field, options.aliases);
    const column = findColumn(columns, name);
    if (column === undefined && options.unknownFields === "ignore") return [];
    const path = options.source === "" ? printable(field) : `${options.source}.${printable(field)}`;
    return [{ name, column, conditions, path }];
  });
  if (known.length > FIELDS_MAX) {
    throw invalid(options.source || "filters", `at most ${FIELDS_MAX} fields can be filtered at once`);
  }
  let listValues = 0;
  const filters: Filter[] = [];
  for (const { name, column, conditions, path } of known) {
    if (column === undefined) throw invalid(path, `${path} is not a searchable field`);
    if (conditions === null || conditions === undefined) continue;
    for (const filter of parseField({ name, column, path, options }, conditions)) {
      listValues += filter.kind === "member" ? filter.values.length : 0;
      if (listValues > LIST_VALUES_MAX)
        throw invalid(path, `at most ${LIST_VALUES_MAX} values can be listed in filters`);
      filters.push(filter);
    }
  }
  return filters;
}

type Field = {
  readonly name: string;
  readonly column: ColumnTypes[string];
  readonly path: string;
  readonly options: FilterOptions;
};

function parseField(field: Field, conditions: unknown): readonly Filter[] {
  const { path, name } = field;
  if (!isPlainObject(conditions)) {
    throw invalid(path, `${path} must be an object {operator: value}, got ${shown(conditions)}`);
  }
  return Object.entries(conditions).flatMap(([operator, value]): readonly Filter[] => {
    if (isComparison(operator)) {
      if (operator === "eq" && value === "any" && field.options.isAnyUnconstrained) return [];
      return [{ kind: "compare", column: name, operator, value: parseScalar(field, operator, value) }];
    }
    if (isMembership(operator)) {
      const spelled = `${path}.${operator}`;
      if (!Array.isArray(value) && !field.options.isOneValueAList) {
        const wanted = `a list, each value ${describeType(field.column.type)}`;
        throw invalid(spelled, `${spelled}: expected ${wanted}, got ${shown(value)}`);
      }
      const list = Array.isArray(value) ? value : [value];
      if (list.length > LIST_VALUES_MAX) throw invalid(spelled, `${spelled} lists more than ${LIST_VALUES_MAX} values`);
      const values = list.map((item: unknown) => parseScalar(field, operator, item));
      return [{ kind: "member", column: name, operator, values }];
    }
    const spelled = `${path}.${printable(operator)}`;
    throw invalid(spelled, `${spelled}: unknown operator; known are ${OPERATORS.join(", ")}`);
  });
}

function parseScalar(field: Field, operator: string, value: unknown): FilterScalar {
  const isOrdering = operator === "lt" || operator === "lte" || operator === "gt" || operator === "gte";
  if (value === null && !isOrdering) return null;
  const { column, options, path } = field;
  const cast = castValue(value, column.type, options.casting);
  if (cast !== undefined) return cast;
  const spelled = `${path}.${operator}`;
  const expected = operator === "in" || operator === "notin" ? "a list, each value" : "one value,";
  throw invalid(spelled, `${spelled}: expected ${expected} ${describeType(column.type)}, got ${shown(value)}`);
}

function resolveAlias(field: string, aliases: Readonly<Record<string, string>> | undefined): string {
  return aliases !== undefined && Object.hasOwn(aliases, field) ? (aliases[field] ?? field) : field;
}

function isComparison(operator: string): operator is Comparison {
  return COMPARISONS.some((known) => known === operator);
}

function isMembership(operator: string): operator is Membership {
  return MEMBERSHIPS.some((known) => known === operator);
}

/** A caller's key as it may stand in a message: short, and without control characters. */
function printable(key: string): string {
  const short = key.length > 64 ? `${key.slice(0, 64)}…` : key;
  return short.replace(/[\p{C}]/gu, "\u{FFFD}");
}
