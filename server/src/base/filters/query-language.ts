import { invalid } from "../errors.ts";
import type { Comparison, Membership } from "./filter.ts";
import { shown } from "./json-input.ts";

type QueryValue = string | number | boolean | null;
type QueryConditions = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

export type Query = {
  /** The form that `parseFilters` takes. */
  readonly filters: Readonly<Record<string, QueryConditions>>;
  /** Fields that the query declared not to matter, by `=any`, `=?` or `=*`: defaults for them are to be dropped too. */
  readonly unconstrained: readonly string[];
};

export type QueryOptions = {
  /** The parameter that carries the query, such as `q`. */
  readonly source: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** Factors from the unit that people write to the unit of the API, such as GB × 1000, by field name after aliases. */
  readonly multipliers?: Readonly<Record<string, number>>;
  /** Fields whose dotted values are versions: `535.86.05` becomes 535086005. */
  readonly versionFields?: readonly string[];
};

type Operator = Comparison | Membership;

const LENGTH_MAX = 8192;
const WILDCARDS: ReadonlySet<string> = new Set(["any", "?", "*"]);
const FIELD = /[A-Za-z0-9_]+/y;
const SYMBOL_OPERATOR = /[=!<>~]+/y;
const WORD_OPERATOR = /(?:not\s+eq|not\s+in|noteq|notin|neq|nin|eq|gte|gt|lte|lt|in)(?=[\s["]|$)/y;
const BLANKS = /\s*/y;

const OPERATOR_OF: Readonly<Record<string, Operator>> = {
  "=": "eq",
  "==": "eq",
  eq: "eq",
  "!=": "neq",
  neq: "neq",
  noteq: "neq",
  "not eq": "neq",
  "<": "lt",
  lt: "lt",
  "<=": "lte",
  lte: "lte",
  ">": "gt",
  gt: "gt",
  ">=": "gte",
  gte: "gte",
  in: "in",
  notin: "notin",
  nin: "notin",
  "not in": "notin",
};

/**
 * Reads the query language of the command line (docs/search.md), `num_gpus>=4 gpu_name in [RTX_4090,H100_SXM]`,
 * into the object form. Values stay text where the language leaves them so; `parseFilters` casts them by column and
 * refuses unknown fields or not, as its caller wants. What cannot be read is an `invalid` error that says where.
 */
export function parseQueryLanguage(text: string, options: QueryOptions): Query {
  const { source } = options;
  if (text.length > LENGTH_MAX) throw invalid(source, `${source} is longer than ${LENGTH_MAX} characters`);
  const reader = createReader(text);
  const filters = new Map<string, Map<string, QueryValue | readonly QueryValue[]>>();
  const unconstrained = new Set<string>();
  for (;;) {
    reader.take(BLANKS);
    if (reader.isAtEnd()) break;
    const name = reader.take(FIELD);
    if (name === undefined) throw invalid(source, `${source}: expected a field name at ${shown(reader.rest())}`);
    const field = own(options.aliases, name) ?? name;
    const operator = readOperator(reader, name, source);
    const { texts, isList } = readValue(reader, operator, name, source);
    const [only = ""] = texts;
    if (operator === "eq" && !isList && WILDCARDS.has(only)) {
      filters.delete(field);
      unconstrained.add(field);
      continue;
    }
    const values = texts.map((value) => convertValue(value, field, options));
    const conditions = filters.get(field) ?? new Map<string, QueryValue | readonly QueryValue[]>();
    conditions.set(operator, operator === "in" || operator === "notin" ? values : (values[0] ?? null));
    filters.set(field, conditions);
  }
  return {
    filters: Object.fromEntries([...filters].map(([field, conditions]) => [field, Object.fromEntries(conditions)])),
    unconstrained: [...unconstrained],
  };
}

type Reader = {
  isAtEnd(): boolean;
  rest(): string;
  /** Consumes what the sticky pattern matches here; undefined when it does not. */
  take(pattern: RegExp): string | undefined;
};

function createReader(text: string): Reader {
  let position = 0;
  return {
    isAtEnd: () => position >= text.length,
    rest: () => text.slice(position, position + 64),
    take(pattern) {
      pattern.lastIndex = position;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      position = pattern.lastIndex;
      return match[0];
    },
  };
}

function readOperator(reader: Reader, name: string, source: string): Operator {
  const gap = reader.take(BLANKS) ?? "";
  const word = gap === "" ? undefined : reader.take(WORD_OPERATOR);
  const spelled = (word ?? reader.take(SYMBOL_OPERATOR) ?? "").replace(/\s+/g, " ");
  const operator = own(OPERATOR_OF, spelled);
  if (operator !== undefined) return operator;
  const found = spelled === "" ? shown(reader.rest()) : shown(spelled);
  throw invalid(source, `${source}: expected an operator such as = != < <= > >= in notin after ${name}, got ${found}`);
}

const LIST = /\[[^\]]*\]/y;
const QUOTED = /"[^"]*"/y;
const WORD = /[^\s]+/y;

function readValue(reader: Reader, operator: Operator, name: string, source: string) {
  const isMembership = operator === "in" || operator === "notin";
  reader.take(BLANKS);
  const bracketed = reader.take(LIST);
  if (bracketed !== undefined) {
    if (!isMembership) throw invalid(source, `${source}: a list after ${name} needs the operator in or notin`);
    return { texts: splitList(bracketed.slice(1, -1)), isList: true };
  }
  const quoted = reader.take(QUOTED);
  if (quoted !== undefined) return { texts: [quoted.slice(1, -1)], isList: false };
  const word = reader.take(WORD);
  if (word === undefined) throw invalid(source, `${source}: ${name} is compared with nothing`);
  return { texts: isMembership ? splitList(word) : [word], isList: false };
}

/** Elements of a list. Commas inside double quotes do not separate; the quotes themselves are dropped. */
function splitList(text: string): readonly string[] {
  const elements = text.match(/(?:"[^"]*"|[^,])+/g) ?? [];
  return elements.map((element) => element.trim().replace(/^"(.*)"$/s, "$1")).filter((element) => element !== "");
}

function convertValue(text: string, field: string, options: QueryOptions): QueryValue {
  const value = text.replaceAll("_", " ").replace(/^"(.*)"$/s, "$1");
  if (value === "true" || value === "True") return true;
  if (value === "false" || value === "False") return false;
  if (value === "None" || value === "null") return null;
  if (options.versionFields?.includes(field) === true && /^\d{1,6}(?:\.\d{1,3})+$/.test(value)) {
    const [first = "", ...parts] = value.split(".");
    return Number(first + parts.map((part) => part.padStart(3, "0")).join(""));
  }
  const multiplier = own(options.multipliers, field);
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
  if (multiplier === undefined || !Number.isFinite(number)) return value;
  // Fifteen digits: 16.1 GB are 16100 MB and not 16100.000000000002.
  return Number((number * multiplier).toPrecision(15));
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
