import { invalid } from "../errors.ts";
import type { Direction, SortKey } from "./filter.ts";
import { isPlainObject, readJson, shown } from "./json-input.ts";

const SORT_KEYS_MAX = 16;

export type OrderOptions = {
  /** The parameter that carries the order, such as `order_by`. */
  readonly source: string;
  readonly aliases?: Readonly<Record<string, string>>;
};

/**
 * Reads a sort order as JSON text or value: `[{"col": "id", "dir": "desc"}]`, or pairs `[["score", "desc"]]`, or plain
 * names. The direction defaults to `asc`. Absent gives an empty list; an unknown column or direction is `invalid`.
 */
export function parseOrderBy(
  input: unknown,
  columns: Readonly<Record<string, unknown>>,
  options: OrderOptions,
): readonly SortKey[] {
  const { source } = options;
  const list = readJson(input, source);
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalid(source, `${source} must be a list, got ${shown(list)}`);
  if (list.length > SORT_KEYS_MAX) throw invalid(source, `${source} names more than ${SORT_KEYS_MAX} columns`);
  return list.map((item: unknown, index) => {
    const path = `${source}[${index}]`;
    const [spelled, direction] = readSortKey(item, path);
    const { aliases } = options;
    const column = aliases !== undefined && Object.hasOwn(aliases, spelled) ? (aliases[spelled] ?? spelled) : spelled;
    if (!Object.hasOwn(columns, column)) throw invalid(path, `${path}: ${shown(spelled)} is not a column to order by`);
    return { column, direction };
  });
}

function readSortKey(item: unknown, path: string): readonly [string, Direction] {
  const [column, direction] = isPlainObject(item) ? [item["col"], item["dir"]] : Array.isArray(item) ? item : [item];
  if (typeof column !== "string" || (Array.isArray(item) && item.length > 2)) {
    throw invalid(path, `${path} must be {"col": name, "dir": "asc" or "desc"} or [name, direction]`);
  }
  if (direction === undefined || direction === null) return [column, "asc"];
  if (direction !== "asc" && direction !== "desc") {
    throw invalid(path, `${path}: the direction must be "asc" or "desc", got ${shown(direction)}`);
  }
  return [column, direction];
}

/**
 * Reads which columns to return, as JSON text or value: `["id", "name"]`. Undefined means all of them, which absent,
 * `[]` and `["*"]` ask for. An unknown name is `invalid`.
 */
export function parseSelectCols(
  input: unknown,
  names: readonly string[],
  source: string,
): ReadonlySet<string> | undefined {
  const list = readJson(input, source);
  if (list === undefined || list === null) return undefined;
  if (!Array.isArray(list)) throw invalid(source, `${source} must be a list of column names, got ${shown(list)}`);
  const known = new Set([...names, "*"]);
  const chosen = new Set<string>();
  for (const name of list) {
    if (typeof name !== "string" || !known.has(name))
      throw invalid(source, `${source}: ${shown(name)} is not a column`);
    chosen.add(name);
  }
  return chosen.size === 0 || chosen.has("*") ? undefined : chosen;
}
