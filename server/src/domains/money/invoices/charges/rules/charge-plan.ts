import { invalid } from "../../../../../base/errors.ts";
import { compileFilter } from "../../../../../base/filters/compile-filter.ts";
import type { Columns } from "../../../../../base/filters/filter.ts";
import { isPlainObject, readJson } from "../../../../../base/filters/json-input.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../../base/filters/parse-filters.ts";
import { parseMoment } from "../../../../../base/moment.ts";
import { asId, type InstanceId } from "../../../../../base/ids.ts";
import type { ChargeKey, ChargeKind, LinePlace } from "../../../charging/for-invoices.ts";
import { readLimit } from "../../movements/rules/movement-plan.ts";
import { invalidToken, readPageToken, type PagedList } from "../../../../../base/filters/page-token.ts";
import { parseFlag } from "../../rules/report.ts";

export type ChargesQuery = {
  readonly select_filters?: string;
  readonly format?: string;
  readonly latest_first?: string;
  readonly limit?: number;
  readonly after_token?: string;
};

/** The window and the kinds of charges that a query asks for. */
export type ChargesScope = {
  /** Whole UTC days. */
  readonly from: Date;
  readonly until: Date;
  readonly kinds: readonly ChargeKind[] | undefined;
};

export type ChargesPlan = ChargesScope & {
  readonly isNewestFirst: boolean;
  readonly limit: number;
} & (
    | { readonly format: "table" | "tree"; readonly after: ChargeKey | undefined }
    | {
        readonly format: "lines";
        readonly after: LinePlace | undefined;
        /** Only the lines of this instance. */
        readonly instanceId: InstanceId | undefined;
      }
  );

const SOURCE = "select_filters";
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;
const DAY_MS = 86_400_000;
const DAYS_MAX = 3_660;
/** Days of a chart without a window, today included. */
const CHART_DAYS = 30;
const TYPES = ["instance", "volume", "serverless"] as const;
const TYPE: Columns<string> = { type: { type: "text", get: (type) => type } };

/** Parses the query of a page of charges; an error names the field. */
export function planCharges(query: ChargesQuery): ChargesPlan {
  const { day, ...filters } = readFilters(query.select_filters);
  const days = readDays(day);
  const format = readFormat(query.format);
  const { instanceId, others } =
    format === "lines" ? splitInstance(filters) : { instanceId: undefined, others: filters };
  const isNewestFirst = query.latest_first === undefined || parseFlag("latest_first", query.latest_first);
  const limit = readLimit(query.limit, { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  const common = { ...days, kinds: readKinds(others, format), isNewestFirst, limit };
  if (format === "lines") {
    const place = readPageToken(linePages(isNewestFirst), query.after_token);
    return { ...common, format, instanceId, after: place && toLinePlace(place) };
  }
  const key = readPageToken(chargePages({ format, isNewestFirst }), query.after_token);
  return { ...common, format, after: key && toKey(key) };
}

/** Parses the filters of a chart: those of a page of charges, but the window is the last 30 days by default. */
export function planChargesChart(selectFilters: string | undefined, now: Date): ChargesScope {
  const { day, ...others } = readFilters(selectFilters);
  const nowS = Math.floor(now.getTime() / 1000);
  const window = day ?? { gte: nowS - ((CHART_DAYS - 1) * DAY_MS) / 1000, lte: nowS };
  return { ...readDays(window), kinds: readKinds(others, "table") };
}

function readFilters(selectFilters: string | undefined): Readonly<Record<string, unknown>> {
  const filters = readJson(selectFilters, SOURCE);
  if (filters === undefined || filters === null) return {};
  if (!isPlainObject(filters)) throw invalid(SOURCE, `${SOURCE} must be an object {field: {operator: value}}`);
  return filters;
}

/** Takes the instance out of the filters of lines; only one can be asked for. */
function splitInstance({ instance_id: asked, ...others }: Readonly<Record<string, unknown>>) {
  if (asked === undefined) return { instanceId: undefined, others };
  const id = isPlainObject(asked) && Object.keys(asked).length === 1 ? asked["eq"] : undefined;
  if (typeof id === "number" && Number.isInteger(id) && id >= 1 && id < 2 ** 31) {
    return { instanceId: asId<InstanceId>(id), others };
  }
  throw invalid(`${SOURCE}.instance_id`, `${SOURCE}.instance_id must be {"eq": ID} with the id of an instance`);
}

/** The whole UTC days from that of `gte` to that of `lte`. */
function readDays(day: unknown): { readonly from: Date; readonly until: Date } {
  const given = isPlainObject(day) ? day : {};
  const { gte, lte, ...unknown } = given;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) {
    throw invalid(`${SOURCE}.day`, `${SOURCE}.day takes gte and lte, not ${stray.slice(0, 20)}`);
  }
  if (gte === undefined || gte === null || lte === undefined || lte === null) {
    throw invalid(`${SOURCE}.day`, "Must provide both 'day' gte and lte in select_filters");
  }
  const [first, last] = [readMoment("gte", gte), readMoment("lte", lte)];
  const from = Math.floor(first.getTime() / DAY_MS) * DAY_MS;
  const until = (Math.floor(last.getTime() / DAY_MS) + 1) * DAY_MS;
  if (from >= until) throw invalid(`${SOURCE}.day.gte`, "day gte must not be after day lte");
  if (until - from > DAYS_MAX * DAY_MS) {
    throw invalid(`${SOURCE}.day.gte`, `at most ${DAYS_MAX} days can be asked for at once`);
  }
  return { from: new Date(from), until: new Date(until) };
}

function readMoment(end: "gte" | "lte", value: unknown): Date {
  const isText = typeof value === "string" || typeof value === "number";
  const moment = isText ? parseMoment(String(value), { isEnd: end === "lte" }) : undefined;
  if (moment !== undefined) return moment;
  throw invalid(
    `${SOURCE}.day.${end}`,
    `${SOURCE}.day.${end} must be seconds since 1970, an ISO 8601 date or date-time, or MM/DD/YYYY`,
  );
}

function readFormat(format: string | undefined): "table" | "tree" | "lines" {
  if (format === undefined || format === "table") return "table";
  if (format === "tree" || format === "lines") return format;
  throw invalid("format", "format must be table, tree or lines");
}

/** The kinds of rows of the requested types; instances that work for an endpoint are `serverless` in both formats. */
function readKinds(
  filters: Readonly<Record<string, unknown>>,
  format: "table" | "tree" | "lines",
): readonly ChargeKind[] | undefined {
  const conditions = parseFilters(filters, TYPE, { ...STRICT_FILTERS, source: SOURCE });
  for (const condition of conditions) {
    const asked = condition.kind === "compare" ? [condition.value] : condition.values;
    const unknown = asked.find((value) => !TYPES.some((type) => type === value));
    if (unknown !== undefined) throw invalid(`${SOURCE}.type`, `${SOURCE}.type must be of ${TYPES.join(", ")}`);
  }
  if (conditions.length === 0) return undefined;
  if (format === "lines") throw invalid(`${SOURCE}.type`, "the format lines has every line: it takes no type");
  const isWanted = compileFilter(conditions, TYPE);
  const kinds: ChargeKind[] = TYPES.filter((type) => isWanted(type));
  return kinds.includes("serverless") ? [...kinds, "endpoint"] : kinds;
}

const KINDS: readonly ChargeKind[] = ["volume", "instance", "serverless", "endpoint"];

/** The list of charges, for tokens of its pages: the day, the kind and the id of a charge. */
export function chargePages({ format, isNewestFirst }: { readonly format: string; readonly isNewestFirst: boolean }) {
  return {
    name: `charges:${format}:${isNewestFirst}`,
    types: ["integer", "text", "integer"],
  } as const satisfies PagedList;
}

/** The list of charge lines: the time of a line, in milliseconds, and its id. */
export function linePages(isNewestFirst: boolean) {
  return { name: `charges:lines:${isNewestFirst}`, types: ["integer", "text"] } as const satisfies PagedList;
}

function toKey([day, kind, id]: readonly [number, string, number]): ChargeKey {
  const known = KINDS.find((candidate) => candidate === kind);
  const isPlace = day >= 0 && day < 2 ** 31 && id >= 0 && id < 2 ** 31;
  if (known === undefined || !isPlace) throw invalidToken();
  return { day, kind: known, id };
}

function toLinePlace([at, id]: readonly [number, string]): LinePlace {
  if (Math.abs(at) >= 8.64e15 || !/^\d{1,18}$/.test(id)) throw invalidToken();
  return { chargedAt: new Date(at), id: BigInt(id) };
}
