import { invalid } from "../../base/errors.ts";
import { compileFilter, compileSort } from "../../base/filters/compile-filter.ts";
import type { Columns } from "../../base/filters/filter.ts";
import { parseFilters, STRICT_FILTERS } from "../../base/filters/parse-filters.ts";
import { readJson } from "../../base/filters/json-input.ts";
import { parseOrderBy } from "../../base/filters/parse-order.ts";
import type { InstanceRecord } from "./views.ts";

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

export type PageQuery = {
  readonly limit?: number;
  readonly after_token?: string;
  readonly order_by?: string;
  readonly select_cols?: string;
  readonly select_filters?: string;
};

/** One page of a user's instances (operations.md §3.4); the cursor is the id of the last row that was sent. */
export function pageOf(records: readonly InstanceRecord[], query: PageQuery) {
  const filters = parseFilters(query.select_filters, COLUMNS, { ...STRICT_FILTERS, source: "select_filters" });
  const order = parseOrderBy(query.order_by, COLUMNS, { source: "order_by" });
  const matching = records.filter(compileFilter(filters, COLUMNS));
  const sorted = matching.toSorted(compileSort([...order, { column: "id", direction: "asc" }], COLUMNS));
  const limit = Math.min(
    LIMIT_MAX,
    (query.limit ?? LIMIT_DEFAULT) > 0 ? (query.limit ?? LIMIT_DEFAULT) : LIMIT_FALLBACK,
  );
  const start = startAfter(sorted, query.after_token);
  const page = sorted.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = start + limit < sorted.length && last !== undefined;
  return {
    success: true as const,
    instances_found: page.length,
    total_instances: sorted.length,
    label_counts: countLabels(sorted),
    next_token: hasMore ? Buffer.from(`after ${last.id}`).toString("base64url") : null,
    instances: selectColumns(page, query.select_cols),
  };
}

function startAfter(sorted: readonly InstanceRecord[], token: string | undefined): number {
  if (token === undefined || token === "") return 0;
  const id = /^after (\d+)$/.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1];
  if (id === undefined) throw invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
  // A row that went away since then leaves its place: the order is by id after the sort keys.
  const index = sorted.findIndex((record) => record.id === Number(id));
  return index === -1 ? sorted.filter((record) => record.id <= Number(id)).length : index + 1;
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
