import { epochSeconds } from "../../../../base/clock.ts";
import { invalid } from "../../../../base/errors.ts";
import { compileFilter, compileSort } from "../../../../base/filters/compile-filter.ts";
import type { Column, Columns, ColumnType } from "../../../../base/filters/filter.ts";
import { isPlainObject, readJson, readNumber } from "../../../../base/filters/json-input.ts";
import { LENIENT_FILTERS, parseFilters } from "../../../../base/filters/parse-filters.ts";
import { parseOrderBy } from "../../../../base/filters/parse-order.ts";
import { parseQueryLanguage } from "../../../../base/filters/query-language.ts";
import { BYTES_PER_GB } from "./rules/listing.ts";
import type { VolumeOfferRecord } from "../schema.ts";
import { durationOf, storageTotalCost, volumeOfferRecord, type SpaceRow, type Viewpoint } from "../views.ts";

/** Keys of a search that are not conditions on offers. */
const SETTINGS: ReadonlySet<string> = new Set([
  "q",
  "order",
  "limit",
  "allocated_storage",
  "disable_bundling",
  "type",
  "api_key",
  "owner",
]);

const ALIASES = { cuda_vers: "cuda_max_good", ubuntu_version: "os_version" } as const;
const MULTIPLIERS = { duration: 86_400 } as const;
const LIMIT_DEFAULT = 64;
const LIMIT_MAX = 10_000;
const STORAGE_GB_DEFAULT = 1;
const STORAGE_GB_MAX = 1_000_000_000;

/** Fields of the record that a search can name; `geolocation` is compared by its country code. */
const FIELDS = {
  id: "integer",
  ask_contract_id: "integer",
  bundle_id: "integer",
  machine_id: "integer",
  host_id: "integer",
  cluster_id: "integer",
  disk_space: "number",
  disk_bw: "number",
  disk_name: "text",
  storage_cost: "number",
  credit_discount_max: "number",
  inet_up: "number",
  inet_down: "number",
  reliability: "number",
  reliability2: "number",
  reliability_mult: "number",
  start_date: "time",
  end_date: "time",
  verification: "text",
  vericode: "integer",
  hosting_type: "integer",
  geolocode: "integer",
  external: "boolean",
  static_ip: "boolean",
  is_simulated: "boolean",
  cuda_max_good: "number",
  cpu_ghz: "number",
  cpu_arch: "text",
  cpu_name: "text",
  mobo_name: "text",
  os_version: "text",
  has_avx: "integer",
  pci_gen: "number",
  pcie_bw: "number",
  driver_vers: "integer",
  gpu_arch: "text",
  total_flops: "number",
  vms_enabled: "boolean",
  nw_disk_min_bw: "number",
  nw_disk_max_bw: "number",
  nw_disk_avg_bw: "number",
  score: "number",
} as const satisfies Partial<Record<keyof VolumeOfferRecord, ColumnType>>;

const LASTING: Columns<SpaceRow> = {
  ...Object.fromEntries(
    Object.entries(FIELDS).map(([name, type]) => [name, lastingColumn(name as keyof typeof FIELDS, type)]),
  ),
  geolocation: { type: "text", get: ({ lasting }) => lasting.geolocation?.slice(-2) },
  verified: { type: "boolean", get: ({ lasting }) => lasting.verification === "verified" },
  datacenter: { type: "boolean", get: ({ lasting }) => lasting.hosting_type === 1 },
  driver_version: { type: "integer", get: ({ lasting }) => lasting.driver_vers },
};

function lastingColumn(name: keyof typeof FIELDS, type: ColumnType): Column<SpaceRow> {
  return { type, get: ({ lasting }) => lasting[name] };
}

function columnsFor(viewpoint: Viewpoint): Columns<SpaceRow> {
  return {
    ...LASTING,
    duration: { type: "number", get: (row) => durationOf(row, viewpoint) },
    storage_total_cost: { type: "number", get: (row) => storageTotalCost(row, viewpoint) },
  };
}

/**
 * Answers a search over the given offers. `request` is the flat object of the contract, which may repeat all its fields
 * in `q`. Unknown fields are ignored, other mistakes are `invalid`.
 */
export function searchVolumeOffers(
  rows: Iterable<SpaceRow>,
  request: Readonly<Record<string, unknown>>,
  now: Date,
): VolumeOfferRecord[] {
  const merged = { ...readRawQuery(request["q"]), ...request };
  const limit = readNumber("limit", merged["limit"], { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  const storageGb = readNumber("allocated_storage", merged["allocated_storage"], {
    fallback: STORAGE_GB_DEFAULT,
    max: STORAGE_GB_MAX,
  });
  const viewpoint = { nowSeconds: epochSeconds(now), storageBytes: BigInt(Math.round(storageGb * BYTES_PER_GB)) };
  const columns = columnsFor(viewpoint);
  const conditions = Object.fromEntries(Object.entries(merged).filter(([key]) => !SETTINGS.has(key)));
  const filters = parseFilters(conditions, columns, { ...LENIENT_FILTERS, source: "", aliases: ALIASES });
  const order = parseOrderBy(merged["order"], columns, { source: "order", aliases: ALIASES });
  const keys = order.length > 0 ? order : [{ column: "score", direction: "desc" } as const];
  const matches = compileFilter(filters, columns);
  const first = new FirstOf(Math.floor(limit), compileSort([...keys, { column: "id", direction: "asc" }], columns));
  for (const row of rows) if (row.lasting.end_date > viewpoint.nowSeconds && matches(row)) first.offer(row);
  return first.sorted().map((row) => volumeOfferRecord(row, viewpoint));
}

/** Keeps the first `limit` of all added rows in an order, so that most of ten thousand rows are never sorted. */
class FirstOf<T> {
  readonly #kept: T[] = [];
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  /** The last of the kept rows, if known: a row that does not come before it cannot be among the first. */
  #last: T | undefined;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  offer(item: T): void {
    const kept = this.#kept;
    const limit = this.#limit;
    const last = this.#last;
    const compare = this.#compare;
    if (last !== undefined && compare(item, last) >= 0) return;
    kept.push(item);
    if (kept.length >= 2 * limit) this.#cut();
  }

  sorted(): readonly T[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort(this.#compare);
    if (this.#kept.length < this.#limit) return;
    this.#kept.length = this.#limit;
    this.#last = this.#kept.at(-1);
  }
}

/** An object, its JSON text, or a text in the query language of the command line. */
function readRawQuery(q: unknown): Readonly<Record<string, unknown>> {
  if (q === undefined || q === "") return {};
  if (typeof q === "string" && !/^\s*[{["]/.test(q)) {
    const options = { source: "q", aliases: ALIASES, multipliers: MULTIPLIERS, versionFields: ["driver_version"] };
    return parseQueryLanguage(q, options).filters;
  }
  const object = readJson(q, "q");
  if (isPlainObject(object)) return object;
  throw invalid("q", "Invalid query: q must be dict of conditions", "invalid_request");
}
