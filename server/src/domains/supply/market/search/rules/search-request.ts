import { invalid } from "../../../../../base/errors.ts";
import type { Filter, SortKey } from "../../../../../base/filters/filter.ts";
import { isPlainObject, readJson, readNumber, shown } from "../../../../../base/filters/json-input.ts";
import { LENIENT_FILTERS, parseFilters } from "../../../../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../../../../base/filters/parse-order.ts";
import { parseQueryLanguage } from "../../../../../base/filters/query-language.ts";
import { OFFER_ALIASES, OFFER_COLUMNS, type OfferType } from "./offer-columns.ts";
import { driverNumber } from "./offer-fields.ts";

/** Keys of a search that are not conditions on offers. */
const SETTINGS: ReadonlySet<string> = new Set([
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
  "chunked",
  "georegion",
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

const KEYS_MAX = 256;
const LIMIT_DEFAULT = 64;
/** Rows that one answer has at most. */
export const LIMIT_MAX = 10_000;
const STORAGE_GB_DEFAULT = 8;
const STORAGE_GB_MAX = 1_000_000;

/** A search as it was understood. */
export type SearchRequest = {
  readonly type: OfferType;
  readonly storageGb: number;
  readonly limit: number;
  readonly isBundled: boolean;
  readonly filters: readonly Filter[];
  readonly order: readonly SortKey[];
};

/** Settings of the operation that searches. */
export type SearchOptions = {
  /** The limit of a search that names none. */
  readonly limitDefault?: number;
};

/**
 * Reads the flat object of the contract, which may repeat all its fields in `q`. Unknown fields are left out; every
 * other mistake is `invalid` and names its field.
 */
export function readSearch(
  query: Readonly<Record<string, unknown>>,
  { limitDefault = LIMIT_DEFAULT }: SearchOptions = {},
): SearchRequest {
  const merged = { ...readRawQuery(query["q"], "q"), ...query };
  const keys = Object.keys(merged);
  if (keys.length > KEYS_MAX) {
    const field = shown(keys[KEYS_MAX]).replaceAll('"', "");
    throw invalid(field, `a search takes at most ${KEYS_MAX} fields, this one has ${keys.length}`);
  }
  const storageGb = readNumber("allocated_storage", merged["allocated_storage"], {
    fallback: STORAGE_GB_DEFAULT,
    max: STORAGE_GB_MAX,
  });
  const conditions = Object.fromEntries(
    Object.entries(merged).flatMap(([key, value]) =>
      SETTINGS.has(key) ? [] : [[key, normalise(key, value)] as const],
    ),
  );
  const options = { ...LENIENT_FILTERS, source: "", aliases: OFFER_ALIASES };
  const order = parseOrderBy(merged["order"], OFFER_COLUMNS, { source: "order", aliases: OFFER_ALIASES });
  return {
    type: readType(merged["type"]),
    storageGb,
    limit: Math.floor(readNumber("limit", merged["limit"], { fallback: limitDefault, max: LIMIT_MAX })),
    isBundled: !readFlag("disable_bundling", merged["disable_bundling"]),
    filters: [
      ...parseFilters(conditions, OFFER_COLUMNS, options),
      { kind: "compare", column: "disk_space", operator: "gte", value: storageGb },
    ],
    order: order.length > 0 ? order : [{ column: "score", direction: "desc" }],
  };
}

/**
 * Throws for conditions on fields that no offer has. A search ignores them, since clients send what their own version
 * knows; a request that spends money by itself must not: a typing error would lift the condition.
 */
export function refuseUnknownFields(query: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys({ ...readRawQuery(query["q"], "q"), ...query }).find(
    (field) => !SETTINGS.has(field) && !Object.hasOwn(OFFER_COLUMNS, field) && !Object.hasOwn(OFFER_ALIASES, field),
  );
  if (unknown !== undefined) throw invalid(shown(unknown), `q: ${shown(unknown)} is not a field of offers`);
}

/**
 * A condition in the server's form, for fields that clients write in forms of their own (docs/contract-rules.md#units).
 */
function normalise(key: string, value: unknown): unknown {
  switch (key) {
    case "gpu_name":
      return mapTexts(value, (name) => name.replaceAll("_", " "));
    case "geolocation":
      return mapTexts(value, (place) => place.trim().slice(-2).toUpperCase());
    case "driver_version":
    case "driver_vers":
      return mapTexts(value, (version) => (isDotted(version) ? driverNumber(version) : version));
    case "rented":
      // Asks for the caller's own machines too, not only for them.
      return isPlainObject(value) && (value["eq"] === true || value["eq"] === "true") ? { ...value, eq: "any" } : value;
    case "external":
    case "has_avx":
    case "resource_type":
      return isScalar(value) ? { eq: value } : value;
    case "target_reliability":
      return typeof value === "number" || typeof value === "string" ? { gte: value } : value;
    default:
      return value;
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === "boolean" || typeof value === "number" || typeof value === "string";
}

function isDotted(version: string): boolean {
  return /^\d{1,6}(\.\d{1,3})+$/.test(version);
}

/** Changes the texts of conditions; the word that lifts a condition stays. */
function mapTexts(conditions: unknown, change: (text: string) => string | number): unknown {
  if (!isPlainObject(conditions)) return conditions;
  const changed = (value: unknown) =>
    typeof value === "string" && value !== "any" && value.length <= TEXT_LENGTH_MAX ? change(value) : value;
  return Object.fromEntries(
    Object.entries(conditions).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(changed) : changed(value),
    ]),
  );
}

/** Longer texts are refused unread. */
const TEXT_LENGTH_MAX = 4096;

/** A raw query is a text of the command line's language, JSON text, or an object. */
function readRawQuery(q: unknown, source: string): Readonly<Record<string, unknown>> {
  if (q === undefined || q === null || q === "") return {};
  if (typeof q === "string" && !/^\s*[{["]/.test(q)) return parseQueryLanguage(q, { ...LANGUAGE, source }).filters;
  const object = readJson(q, source);
  if (isPlainObject(object)) return object;
  throw invalid(source, `${source} must be a query text or an object, got ${shown(object)}`, "invalid_request");
}

/**
 * The flat object of conditions of a search in the command line's language, as JSON text or as an object. Mistakes in
 * the form are `invalid` and name `source`; those in conditions are found by the search itself.
 */
export function readQuery(query: unknown, source: string): Readonly<Record<string, unknown>> {
  if (typeof query === "string" && query.trim() === "") return {};
  return readRawQuery(query, source);
}

/** Units of the query language: people write GB and days where records have MB and seconds. */
const LANGUAGE = {
  aliases: OFFER_ALIASES,
  multipliers: { cpu_ram: 1000, gpu_ram: 1000, gpu_total_ram: 1000, duration: 86_400 },
  versionFields: ["driver_vers", "driver_version"],
} as const;

function readType(value: unknown): OfferType {
  if (value === undefined || value === null) return "ondemand";
  const name = typeof value === "string" ? value.toLowerCase() : "";
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) throw invalid("type", `type must be one of ${Object.keys(TYPES).join(", ")}`);
  return type;
}

function readFlag(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (value === true || value === "true" || value === "True" || value === 1) return true;
  if (value === false || value === "false" || value === "False" || value === 0) return false;
  throw invalid(field, `${field} must be true or false, got ${shown(value)}`);
}
