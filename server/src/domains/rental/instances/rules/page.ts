import { invalid } from "../../../../base/errors.ts";
import { compileFilter, compileSort } from "../../../../base/filters/compile-filter.ts";
import { cutPage } from "../../../../base/filters/cursor.ts";
import type { Columns, Filter, SortKey } from "../../../../base/filters/filter.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../base/filters/parse-filters.ts";
import { isPlainObject, readJson } from "../../../../base/filters/json-input.ts";
import { parseOrderBy } from "../../../../base/filters/parse-order.ts";
import type { InstanceRecord } from "../views.ts";

const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 25;
const LIMIT_FALLBACK = 5;

const COLUMNS: Columns<InstanceRecord> = {
  id: { type: "integer", get: (record) => record.id },
  actual_status: { type: "text", get: (record) => record.actual_status },
  intended_status: { type: "text", get: (record) => record.intended_status },
  cur_state: { type: "text", get: (record) => record.cur_state },
  next_state: { type: "text", get: (record) => record.next_state },
  label: { type: "text", get: (record) => record.label },
  machine_id: { type: "integer", get: (record) => record.machine_id },
  host_id: { type: "integer", get: (record) => record.host_id },
  gpu_name: { type: "text", get: (record) => record.gpu_name },
  verification: { type: "text", get: (record) => record.verification },
  image_uuid: { type: "text", get: (record) => record.image_uuid },
  is_bid: { type: "boolean", get: (record) => record.is_bid },
  start_date: { type: "time", get: (record) => record.start_date },
  end_date: { type: "time", get: (record) => record.end_date },
  template_id: { type: "integer", get: (record) => record.template_id },
  template_hash_id: { type: "text", get: (record) => record.template_hash_id },
};

/** Columns that can be sorted by but not searched, since they are computed. */
const SORT_COLUMNS: Columns<InstanceRecord> = {
  ...COLUMNS,
  ...Object.fromEntries(
    (
      [
        "num_gpus",
        "gpu_util",
        "gpu_ram",
        "cpu_cores_effective",
        "cpu_ram",
        "disk_space",
        "disk_usage",
        "disk_util",
        "dph_base",
        "dph_total",
        "inet_up",
        "inet_down",
        "reliability2",
        "duration",
        "uptime_mins",
      ] as const
    ).map((name) => [name, { type: "number", get: (record: InstanceRecord) => record[name] }] as const),
  ),
  ssh_host: { type: "text", get: (record) => record.ssh_host },
  ssh_port: { type: "integer", get: (record) => record.ssh_port },
  status_msg: { type: "text", get: (record) => record.status_msg },
  geolocation: { type: "text", get: (record) => record.geolocation },
};

export type PageQuery = {
  readonly limit?: number;
  readonly after_token?: string;
  readonly order_by?: string;
  readonly select_cols?: string;
  readonly select_filters?: string;
};

/** One page of a user's instances; the cursor is the place of the last row that was sent. */
export function pageOf(records: readonly InstanceRecord[], query: PageQuery) {
  const filters = readFilters(query.select_filters);
  const order = [...readOrder(query.order_by), { column: "id", direction: "asc" } as const];
  const matching = records.filter(compileFilter(filters, COLUMNS));
  const sorted = matching.toSorted(compileSort(order, SORT_COLUMNS));
  const limit = Math.min(
    LIMIT_MAX,
    (query.limit ?? LIMIT_DEFAULT) > 0 ? (query.limit ?? LIMIT_DEFAULT) : LIMIT_FALLBACK,
  );
  const { rows: page, nextToken } = cutPage(sorted, SORT_COLUMNS, {
    name: "instances",
    order,
    token: query.after_token,
    limit,
  });
  return {
    success: true as const,
    instances_found: page.length,
    total_instances: sorted.length,
    label_counts: countLabels(sorted),
    next_token: nextToken,
    instances: selectColumns(page, query.select_cols),
  };
}

/** Each combination of filter values that the records have, in their order; clients offer them as filters. */
export function filterValuesOf(records: readonly InstanceRecord[]) {
  const combinations = new Map<string, Pick<InstanceRecord, "actual_status" | "verification" | "gpu_name">>();
  for (const { actual_status, verification, gpu_name } of records) {
    combinations.set(JSON.stringify([actual_status, verification, gpu_name]), {
      actual_status,
      verification,
      gpu_name,
    });
  }
  return [...combinations.values()];
}

function readFilters(text: string | undefined): readonly Filter[] {
  const source = "select_filters";
  const asked = readJson(text, source);
  const unknown = isPlainObject(asked) ? Object.keys(asked).find((field) => !Object.hasOwn(COLUMNS, field)) : undefined;
  if (unknown !== undefined) {
    const path = `${source}.${unknown.slice(0, 64)}`;
    throw invalid(path, `${unknown.slice(0, 64)} is not a valid search key`, "invalid_request");
  }
  return parseFilters(asked, COLUMNS, { ...STRICT_FILTERS, source });
}

/** Any direction but `desc` is ascending, as in the published contract. */
function readOrder(text: string | undefined): readonly SortKey[] {
  const asked = readJson(text, "order_by");
  const spelled = Array.isArray(asked)
    ? asked.map((key: unknown) => (isPlainObject(key) && key["dir"] !== "desc" ? { ...key, dir: "asc" } : key))
    : asked;
  return parseOrderBy(spelled, SORT_COLUMNS, { source: "order_by" });
}

function countLabels(records: readonly InstanceRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { label } of records) counts[label ?? ""] = (counts[label ?? ""] ?? 0) + 1;
  return counts;
}

/** An unknown column is answered with null, as clients of other versions expect. */
function selectColumns(records: readonly InstanceRecord[], selection: string | undefined) {
  const columns = readJson(selection, "select_cols") ?? ["*"];
  if (!Array.isArray(columns) || columns.some((column) => typeof column !== "string") || columns.length > 256) {
    throw invalid("select_cols", "select_cols must be a list of column names");
  }
  if (columns.includes("*")) return records.map((record): Record<string, unknown> => record);
  return records.map((record) => {
    const fields = new Map<string, unknown>(Object.entries(record));
    return Object.fromEntries(columns.map((column) => [column, fields.get(column) ?? null]));
  });
}
