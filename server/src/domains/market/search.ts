import { invalid } from "../../base/errors.ts";
import { compileFilter, compileSort } from "../../base/filters/compile-filter.ts";
import { LENIENT_FILTERS, parseFilters } from "../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../base/filters/parse-order.ts";
import { parseQueryLanguage } from "../../base/filters/query-language.ts";
import type { MachineId } from "../../base/ids.ts";
import { OFFER_ALIASES, offerColumns, type IndexedOffer } from "./offer-columns.ts";
import { offerRecord, type OfferRecord, type OfferType } from "./offer-record.ts";

/** Keys of a search that are no conditions on offers (operations.md §1.1). */
const SETTINGS = new Set([
  "type",
  "order",
  "limit",
  "allocated_storage",
  "q",
  "disable_bundling",
  "target_reliability",
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
    Object.entries(merged).flatMap(([key, value]) => (SETTINGS.has(key) ? [] : [[key, normalise(key, value)]])),
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

/** `RTX_4090` and `RTX 4090` are one name (offer-fields.md §1.6). */
function normalise(key: string, value: unknown): unknown {
  if (key !== "gpu_name" || typeof value !== "object" || value === null) return value;
  const spell = (name: unknown) => (typeof name === "string" ? name.replaceAll("_", " ") : name);
  return Object.fromEntries(
    Object.entries(value).map(([operator, name]) => [operator, Array.isArray(name) ? name.map(spell) : spell(name)]),
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
    return parseQueryLanguage(q, { source: "q", aliases: OFFER_ALIASES, multipliers: MULTIPLIERS }).filters;
  }
  if (typeof q === "object" && q !== null && !Array.isArray(q)) return { ...q };
  throw invalid("q", "q must be a query text or an object", "invalid_request");
}

const MULTIPLIERS = { cpu_ram: 1000, gpu_ram: 1000, gpu_total_ram: 1000, duration: 86_400 } as const;

function readType(value: unknown): OfferType {
  if (value === undefined) return "ondemand";
  const type = typeof value === "string" ? TYPES[value.toLowerCase()] : undefined;
  if (type === undefined) throw invalid("type", `type must be one of ${Object.keys(TYPES).join(", ")}`);
  return type;
}

function readNumber(field: string, value: unknown, fallback: number, max: number): number {
  if (value === undefined) return fallback;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0 || number > max) {
    throw invalid(field, `${field} must be a number from 0 to ${max}`);
  }
  return number;
}
