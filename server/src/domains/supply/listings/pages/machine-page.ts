import { invalid } from "../../../../base/errors.ts";
import { compileFilter, compileSort } from "../../../../base/filters/compile-filter.ts";
import { cutPage } from "../../../../base/filters/cursor.ts";
import type { Column, Columns } from "../../../../base/filters/filter.ts";
import { readNumber } from "../../../../base/filters/json-input.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../base/filters/parse-filters.ts";
import { parseOrderBy, parseSelectCols } from "../../../../base/filters/parse-order.ts";
import type { MachineRecord } from "../schema.ts";

export type MachinePageQuery = {
  readonly limit?: number;
  readonly after_token?: string;
  readonly order_by?: string;
  readonly select_cols?: string;
  readonly select_filters?: string;
};

const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 100;

const INTEGERS = [
  "id",
  "machine_id",
  "num_gpus",
  "gpu_ram",
  "cpu_cores",
  "cpu_ram",
  "hosting_type",
  "min_chunk",
  "timeout",
  "rented_devices",
  "num_renters",
  "current_rentals_running",
  "current_rentals_running_on_demand",
  "current_rentals_on_demand",
  "current_rentals_reserved",
  "current_rentals_interruptible",
  "current_rentals_resident",
  "num_reports",
] as const;
const NUMBERS = [
  "total_flops",
  "disk_space",
  "avail_disk_space",
  "cuda_max_good",
  "inet_up",
  "inet_down",
  "reliability2",
  "listed_gpu_cost",
  "min_bid_price",
  "listed_storage_cost",
  "listed_volume_cost",
  "listed_inet_up_cost",
  "listed_inet_down_cost",
  "credit_discount_max",
  "duration",
  "earn_hour",
  "earn_day",
  "earn_month",
] as const;
const TIMES = ["end_date", "online_since", "last_seen", "client_end_date", "rests_until"] as const;
const TEXTS = [
  "hostname",
  "gpu_name",
  "cpu_name",
  "driver_version",
  "public_ipaddr",
  "geolocation",
  "verification",
  "gpu_occupancy",
  "error_description",
] as const;
const FLAGS = ["is_simulated", "listed", "rentable", "is_online"] as const;

type Name = (typeof INTEGERS | typeof NUMBERS | typeof TIMES | typeof TEXTS | typeof FLAGS)[number];

/** Fields of a machine's record by which it can be found and sorted: those that hold one value. */
const COLUMNS: Columns<MachineRecord> = {
  ...columnsOf(INTEGERS, "integer"),
  ...columnsOf(NUMBERS, "number"),
  ...columnsOf(TIMES, "time"),
  ...columnsOf(TEXTS, "text"),
  ...columnsOf(FLAGS, "boolean"),
};

function columnsOf(names: readonly Name[], type: Column<MachineRecord>["type"]): Columns<MachineRecord> {
  return Object.fromEntries(
    names.map((name) => [name, { type, get: (record: MachineRecord) => record[name] }] as const),
  );
}

/** One page of a host's machines; an error names the parameter. */
export function machinePageOf(records: readonly MachineRecord[], query: MachinePageQuery) {
  const filters = parseFilters(query.select_filters, COLUMNS, { ...STRICT_FILTERS, source: "select_filters" });
  const asked = parseOrderBy(query.order_by, COLUMNS, { source: "order_by" });
  const order = [...asked, { column: "id", direction: "asc" } as const];
  const limit = readNumber("limit", query.limit, { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  if (!Number.isInteger(limit) || limit < 1) {
    throw invalid("limit", `limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const found = records.filter(compileFilter(filters, COLUMNS)).toSorted(compileSort(order, COLUMNS));
  const { rows, nextToken } = cutPage(found, COLUMNS, { name: "machines", order, token: query.after_token, limit });
  return {
    success: true as const,
    total_machines: found.length,
    machines_found: rows.length,
    machines: selectColumns(rows, query.select_cols),
    next_token: nextToken,
  };
}

const NAMES_BESIDE = ["volume_offer", "gpu_problems", "default_job", "maintenance"];

function selectColumns(rows: readonly MachineRecord[], selection: string | undefined): Partial<MachineRecord>[] {
  const names = parseSelectCols(selection, [...Object.keys(COLUMNS), ...NAMES_BESIDE], "select_cols");
  if (names === undefined) return [...rows];
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name))));
}
