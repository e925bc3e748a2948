import { invalid } from "../../base/errors.ts";
import { compileFilter, compileSort } from "../../base/filters/compile-filter.ts";
import { LENIENT_FILTERS, parseFilters } from "../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../base/filters/parse-order.ts";
import { isPlainObject } from "../../base/filters/json-input.ts";
import { parseQueryLanguage } from "../../base/filters/query-language.ts";
import type { MachineId } from "../../base/ids.ts";
import { OFFER_ALIASES, offerColumns, type IndexedOffer } from "./offer-columns.ts";
import { driverNumber, offerRecord, type OfferRecord, type OfferType } from "./offer-record.ts";

/** Keys of a search that are no conditions on offers (operations.md §1.1). */
const SETTINGS = new Set([
  "type",
  "order",
  "limit",
  "allocated_storage",
  "q",
  "disable_bundling",
  "extra_ids",
  "gpu_option",
  "show_incompatible",
  "sort_option",
  "template_id",
  "api_key",
  "owner",
  "select_cols",
]);

const TYPES: Readonly<Record<string, OfferType>> = {
  ondemand: "ondemand",
  "on-demand": "ondemand",
  bid: "bid",
  interruptible: "bid",
  reserved: "reserved",
};

const LIMIT_DEFAULT = 64;
const LIMIT_MAX = 10_000;
const STORAGE_GB_DEFAULT = 8;
const STORAGE_GB_MAX = 1_000_000;

export type SearchCaller = { readonly now: Date; readonly rentedMachines: ReadonlySet<MachineId> };

/** Answers a search over the given offers. `query` is the flat object of the contract; mistakes are `invalid`. */
export function searchOffers(
  offers: Iterable<IndexedOffer>,
  query: Readonly<Record<string, unknown>>,
  caller: SearchCaller,
): readonly OfferRecord[] {
  const merged = { ...readRawQuery(query["q"]), ...query };
  const context = {
    ...caller,
    type: readType(merged["type"]),
    storageGb: readNumber("allocated_storage", merged["allocated_storage"], STORAGE_GB_DEFAULT, STORAGE_GB_MAX),
  };
  const limit = Math.floor(readNumber("limit", merged["limit"], LIMIT_DEFAULT, LIMIT_MAX));
  const columns = offerColumns(context);
  const conditions = Object.fromEntries(
    Object.entries(merged).flatMap(([key, value]) =>
      SETTINGS.has(key) ? [] : [[key, normalise(key, value)] as const],
    ),
  );
  const filters = parseFilters(conditions, columns, { ...LENIENT_FILTERS, source: "", aliases: OFFER_ALIASES });
  const order = parseOrderBy(merged["order"], columns, { source: "order", aliases: OFFER_ALIASES });
  const matches = compileFilter(filters, columns);
  const found: IndexedOffer[] = [];
  for (const offer of offers) {
    const { row } = offer;
    if (row.diskSpaceGb >= context.storageGb && matches(offer)) found.push(offer);
  }
  const keys = order.length > 0 ? order : [{ column: "score", direction: "desc" } as const];
  found.sort(compileSort([...keys, { column: "id", direction: "asc" }], columns));
  return found.slice(0, limit).map(({ row }) => offerRecord(row, context));
}

/** What clients mean where they write it in a form of their own (offer-fields.md §1.6, operations.md §1.1). */
function normalise(key: string, value: unknown): unknown {
  switch (key) {
    case "gpu_name":
      return mapValues(value, (name) => (typeof name === "string" ? name.replaceAll("_", " ") : name));
    case "driver_version":
    case "driver_vers":
      return mapValues(value, (version) => (isDotted(version) ? driverNumber(version) : version));
    case "rented":
      // Asks for the caller's own machines too, not for them alone.
      return isPlainObject(value) && value["eq"] === true ? { ...value, eq: "any" } : value;
    case "external":
    case "resource_type":
      return typeof value === "boolean" || typeof value === "string" ? { eq: value } : value;
    case "target_reliability":
      return typeof value === "number" || typeof value === "string" ? { gte: value } : value;
    default:
      return value;
  }
}

function isDotted(version: unknown): version is string {
  return typeof version === "string" && /^\d{1,6}(\.\d{1,3})+$/.test(version);
}

function mapValues(conditions: unknown, change: (value: unknown) => unknown): unknown {
  if (!isPlainObject(conditions)) return conditions;
  return Object.fromEntries(
    Object.entries(conditions).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(change) : change(value),
    ]),
  );
}

/** A raw query is a text of the command line's language, JSON text, or an object. */
function readRawQuery(q: unknown): Readonly<Record<string, unknown>> {
  if (q === undefined || q === "") return {};
  if (typeof q === "string") {
    if (q.trimStart().startsWith("{")) {
      try {
        return readRawQuery(JSON.parse(q));
      } catch (cause) {
        throw invalid("q", "q is not valid JSON", "invalid_request", { cause });
      }
    }
    return parseQueryLanguage(q, LANGUAGE).filters;
  }
  if (typeof q === "object" && q !== null && !Array.isArray(q)) return { ...q };
  throw invalid("q", "q must be a query text or an object", "invalid_request");
}

/** People write GB and days (offer-fields.md §1.7). */
const LANGUAGE = {
  source: "q",
  aliases: OFFER_ALIASES,
  multipliers: { cpu_ram: 1000, gpu_ram: 1000, gpu_total_ram: 1000, duration: 86_400 },
  versionFields: ["driver_vers"],
} as const;

function readType(value: unknown): OfferType {
  if (value === undefined) return "ondemand";
  const type = typeof value === "string" ? TYPES[value.toLowerCase()] : undefined;
  if (type === undefined) throw invalid("type", `type must be one of ${Object.keys(TYPES).join(", ")}`);
  return type;
}

function readNumber(field: string, value: unknown, fallback: number, max: number): number {
  if (value === undefined) return fallback;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0 || number > max) {
    throw invalid(field, `${field} must be a number from 0 to ${max}`);
  }
  return number;
}
