import { invalid } from "../../../../base/errors.ts";
import type { Filter } from "../../../../base/filters/filter.ts";
import { readNumber } from "../../../../base/filters/json-input.ts";
import { invalidToken, readPageToken, writePageToken, type PagedList } from "../../../../base/filters/page-token.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../base/filters/parse-filters.ts";
import { parseOrderBy, parseSelectCols } from "../../../../base/filters/parse-order.ts";
import { EVENT_COLUMNS } from "./search-store.ts";

export type AuditPageQuery = {
  readonly limit?: number;
  readonly after_token?: string;
  readonly order_by?: string;
  readonly select_cols?: string;
  readonly select_filters?: string;
};

export type AuditPagePlan = {
  readonly filters: readonly Filter[];
  readonly isNewestFirst: boolean;
  readonly after: bigint | undefined;
  readonly limit: number;
  /** Columns to show; undefined for all of them. */
  readonly columns: ReadonlySet<string> | undefined;
};

const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 500;
/** Events have ids in the order of time, so both columns mean the same order. */
const ORDER_COLUMNS = { id: "id", created_at: "id" } as const;
const NAMES = [...Object.keys(EVENT_COLUMNS), "args", "key", "key_type", "key_status", "email", "name"];

/** Reads the query of a page of the audit log; an error names the parameter. */
export function planAuditPage(query: AuditPageQuery): AuditPagePlan {
  const order = parseOrderBy(query.order_by, ORDER_COLUMNS, { source: "order_by" });
  const limit = readNumber("limit", query.limit, { fallback: LIMIT_DEFAULT, max: LIMIT_MAX });
  if (!Number.isInteger(limit) || limit < 1) {
    throw invalid("limit", `limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  return {
    filters: parseFilters(query.select_filters, EVENT_COLUMNS, { ...STRICT_FILTERS, source: "select_filters" }),
    isNewestFirst: order[0]?.direction !== "asc",
    after: readPlace(query.after_token),
    limit,
    columns: parseSelectCols(query.select_cols, NAMES, "select_cols"),
  };
}

const LIST = { name: "audit_log", types: ["text"] } as const satisfies PagedList;

/** The token of the page after the event of this id. */
export function writeAuditToken(id: bigint): string {
  return writePageToken(LIST, [String(id)]);
}

function readPlace(token: string | undefined): bigint | undefined {
  const [id] = readPageToken(LIST, token) ?? [];
  if (id !== undefined && !/^\d{1,18}$/.test(id)) throw invalidToken();
  return id === undefined ? undefined : BigInt(id);
}
