import { invalid } from "../../../../../base/errors.ts";
import { compileFilter } from "../../../../../base/filters/compile-filter.ts";
import type { Columns, Filter } from "../../../../../base/filters/filter.ts";
import { isPlainObject, readJson, readNumber } from "../../../../../base/filters/json-input.ts";
import { invalidToken, readPageToken, type PagedList } from "../../../../../base/filters/page-token.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../../../../base/filters/parse-order.ts";
import type { MovementPlace, MovementSide } from "../../../ledger/for-invoices.ts";
import { codesOf } from "./movements.ts";
import { parseFlag } from "../../rules/report.ts";

export type MovementsQuery = {
  readonly select_filters?: string;
  readonly order_by?: string;
  readonly latest_first?: string;
  readonly limit?: number;
  readonly after_token?: string;
};

export type MovementsPlan = {
  readonly from: Date;
  readonly until: Date;
  readonly sides: readonly MovementSide[];
  readonly order: "when" | "amount";
  readonly isDescending: boolean;
  readonly after: MovementPlace | undefined;
  readonly limit: number;
};

const SOURCE = "select_filters";
const LIMIT_DEFAULT = 60;
const LIMIT_MAX = 500;
const SERVICE: Columns<string> = { service: { type: "text", get: (service) => service } };
const ORDER_COLUMNS = { paid_on: "when", when: "when", amount_cents: "amount" } as const;
/** The years 1 to 9999 in seconds since 1970, the bounds of a moment. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800, 253_402_300_799];

/** Parses the query of a page of movements; undefined when its range of dates is missing or invalid. */
export function planMovements(query: MovementsQuery): MovementsPlan | undefined {
  const filters = readJson(query.select_filters, SOURCE);
  if (filters !== undefined && filters !== null && !isPlainObject(filters)) {
    throw invalid(SOURCE, `${SOURCE} must be an object {field: {operator: value}}`);
  }
  const { when, ...others } = isPlainObject(filters) ? filters : { when: undefined };
  const services = parseFilters(others, SERVICE, { ...STRICT_FILTERS, source: SOURCE });
  const { order, isDescending } = readOrder(query);
  const place = readPageToken(pagesOf({ order, isDescending }), query.after_token);
  const limit = readLimit(query.limit, { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  const range = readRange(when);
  if (range === undefined) return undefined;
  return { ...range, sides: sidesOf(services), order, isDescending, after: place && toPlace(place), limit };
}

export function readLimit(
  limit: unknown,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const read = readNumber("limit", limit, { fallback, max });
  if (!Number.isInteger(read) || read < 1) throw invalid("limit", `limit must be a whole number from 1 to ${max}`);
  return read;
}

function readOrder({ order_by: orderBy, latest_first: latestFirst }: MovementsQuery): {
  readonly order: "when" | "amount";
  readonly isDescending: boolean;
} {
  const isLatestFirst = latestFirst === undefined || parseFlag("latest_first", latestFirst);
  // Without a direction this list has the newest movement first, unlike other lists.
  const asked = readJson(orderBy, "order_by");
  const spelled = Array.isArray(asked)
    ? asked.map((key: unknown) => (isPlainObject(key) ? { dir: "desc", ...key } : key))
    : asked;
  const keys = parseOrderBy(spelled, ORDER_COLUMNS, { source: "order_by" });
  const [key] = keys;
  if (key === undefined) return { order: "when", isDescending: isLatestFirst };
  const order = Object.entries(ORDER_COLUMNS).find(([name]) => name === key.column)?.[1] ?? "when";
  return { order, isDescending: key.direction === "desc" };
}

/** The range of a query; both ends are required, in seconds since 1970, with or without fractions. */
function readRange(when: unknown): { readonly from: Date; readonly until: Date } | undefined {
  if (!isPlainObject(when)) return undefined;
  const known = ["gte", "gt", "lte", "lt"];
  const bounds = new Map<string, number>();
  for (const [operator, value] of Object.entries(when)) {
    if (value === null) continue;
    const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (!known.includes(operator) || typeof seconds !== "number") return undefined;
    if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) return undefined;
    bounds.set(operator, seconds);
  }
  const since = (operator: string, shift: number) => {
    const seconds = bounds.get(operator);
    return seconds === undefined ? [] : [Math.ceil(seconds * 1000) + shift];
  };
  const before = (operator: string, shift: number) => {
    const seconds = bounds.get(operator);
    return seconds === undefined ? [] : [Math.floor(seconds * 1000) + shift];
  };
  const [lower, upper] = [
    [...since("gte", 0), ...since("gt", 1)],
    [...before("lte", 1), ...before("lt", 0)],
  ];
  if (lower.length === 0 || upper.length === 0) return undefined;
  const [fromMs, untilMs] = [Math.max(...lower), Math.min(...upper)];
  return fromMs < untilMs ? { from: new Date(fromMs), until: new Date(untilMs) } : undefined;
}

function sidesOf(filters: readonly Filter[]): readonly MovementSide[] {
  const isWanted = compileFilter(filters, SERVICE);
  return codesOf((service) => isWanted(service));
}

/** The list of movements in an order, for tokens of its pages: the value of a movement in it, and its id. */
export function pagesOf({ order, isDescending }: Pick<MovementsPlan, "order" | "isDescending">) {
  return { name: `movements:${order}:${isDescending}`, types: ["text", "text"] } as const satisfies PagedList;
}

function toPlace([value, id]: readonly [string, string]): MovementPlace {
  if (![value, id].every((part) => /^-?\d{1,18}$/.test(part))) throw invalidToken();
  return { value: BigInt(value), id: BigInt(id) };
}
