import { invalid } from "../../../../../base/errors.ts";
import type { Columns, SortKey } from "../../../../../base/filters/filter.ts";
import { isPlainObject, readJson, readNumber } from "../../../../../base/filters/json-input.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../../../../base/filters/parse-order.ts";
import { parseMoment } from "../../../../../base/moment.ts";
import { dayOf, DAYS_MAX, DEFAULT_DAYS, LAST_DAY, type Days } from "../../rules/earnings.ts";
import { amountColumns, type EarnedSums } from "./sums.ts";

/** The query of rows or of a chart of earnings. */
export type EarningsPageQuery = {
  readonly group_by?: string;
  readonly select_filters?: string;
  readonly order_by?: string;
  readonly limit?: number;
  readonly after_token?: string;
};

export type EarningsPlan = {
  readonly days: Days;
  /** Ids of the machines; undefined for all of them, and for earnings that no machine made. */
  readonly machineIds: readonly number[] | undefined;
};

export type EarningsPagePlan = EarningsPlan & {
  readonly groupBy: "day" | "machine";
  readonly order: readonly SortKey[];
  readonly limit: number;
  readonly token: string | undefined;
};

/** A day's or a machine's sums; `of` is the day, or the id of the machine, zero for what no machine earned. */
export type EarnedRow = { readonly of: number; readonly sums: EarnedSums };

const SOURCE = "select_filters";
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;
const MACHINE: Columns<number> = { machine_id: { type: "integer", get: (id) => id } };

/** The columns by which rows of this grouping are sorted. */
export function orderColumns(groupBy: "day" | "machine"): Columns<EarnedRow> {
  const name = groupBy === "day" ? "day" : "machine_id";
  return { ...amountColumns, [name]: { type: "integer", get: (row) => row.of } };
}

/** Reads the query of a page of rows; an error names the field. */
export function planEarningsPage(query: EarningsPageQuery, now: Date): EarningsPagePlan {
  const groupBy = readGroup(query.group_by);
  const key = groupBy === "day" ? "day" : "machine_id";
  const order = parseOrderBy(query.order_by, orderColumns(groupBy), { source: "order_by" });
  const limit = readNumber("limit", query.limit, { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  if (!Number.isInteger(limit) || limit < 1) {
    throw invalid("limit", `limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  return {
    ...planEarnings(query.select_filters, now),
    groupBy,
    order: [...order, { column: key, direction: "asc" }],
    limit,
    token: query.after_token,
  };
}

function readGroup(text: string | undefined): "day" | "machine" {
  if (text === undefined || text === "" || text === "day") return "day";
  if (text === "machine" || text === "machine_id") return "machine";
  throw invalid("group_by", "group_by must be day or machine");
}

/** Reads the days and the machines of `select_filters`; the last 30 days of all machines by default. */
export function planEarnings(text: string | undefined, now: Date): EarningsPlan {
  const filters = readJson(text, SOURCE);
  if (filters !== undefined && filters !== null && !isPlainObject(filters)) {
    throw invalid(SOURCE, `${SOURCE} must be an object {field: {operator: value}}`);
  }
  const { day, ...others } = isPlainObject(filters) ? filters : { day: undefined };
  return { days: readDays(day, now), machineIds: readMachines(others) };
}

function readMachines(filters: Readonly<Record<string, unknown>>): readonly number[] | undefined {
  const conditions = parseFilters(filters, MACHINE, { ...STRICT_FILTERS, source: SOURCE });
  const lists = conditions.map((condition) => {
    if (condition.operator !== "eq" && condition.operator !== "in") {
      throw invalid(`${SOURCE}.machine_id`, `${SOURCE}.machine_id takes eq and in, not ${condition.operator}`);
    }
    const values = condition.kind === "compare" ? [condition.value] : condition.values;
    return values.flatMap((value) => (typeof value === "number" && value >= 1 && value < 2 ** 31 ? [value] : []));
  });
  const [first, ...others] = lists;
  return first?.filter((id) => others.every((other) => other.includes(id)));
}

/** The whole UTC days that every bound allows, both ends included. */
function readDays(condition: unknown, now: Date): Days {
  const source = `${SOURCE}.day`;
  if (condition !== undefined && condition !== null && !isPlainObject(condition)) {
    throw invalid(source, `${source} must be an object {operator: day}`);
  }
  const lowest: number[] = [];
  const highest: number[] = [];
  for (const [operator, value] of Object.entries(condition ?? {})) {
    if (value === null) continue;
    const day = readDay(`${source}.${operator.slice(0, 20)}`, value);
    if (operator === "gte" || operator === "eq") lowest.push(day);
    if (operator === "lte" || operator === "eq") highest.push(day);
    if (operator === "gt") lowest.push(day + 1);
    if (operator === "lt") highest.push(day - 1);
    if (!["gte", "gt", "lte", "lt", "eq"].includes(operator)) {
      throw invalid(source, `${source} takes gte, gt, lte, lt and eq, not ${operator.slice(0, 20)}`);
    }
  }
  const last = highest.length === 0 ? dayOf(now) : Math.min(...highest);
  const first = lowest.length === 0 ? Math.max(0, last - DEFAULT_DAYS + 1) : Math.max(...lowest);
  if (first > last) throw invalid(source, "the first day must not be after the last");
  if (last - first >= DAYS_MAX) throw invalid(source, `at most ${DAYS_MAX} days can be asked for at once`);
  return { first, last };
}

/** A day since 1970, as rows show it; larger numbers are seconds since 1970, and texts are dates. */
function readDay(field: string, value: unknown): number {
  const text = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
  const number = text === "" ? Number.NaN : Number(text);
  if (number >= 0 && number <= LAST_DAY) return Math.floor(number);
  const moment = parseMoment(text, { isEnd: false });
  if (moment !== undefined && moment.getTime() >= 0) return dayOf(moment);
  throw invalid(field, `${field} must be days or seconds since 1970, an ISO 8601 date, or MM/DD/YYYY`);
}
