import { sql, type Insertable } from "kysely";
import type { Tables } from "./tables.ts";
import type { Tx } from "./transaction.ts";

/** A row by its column names. Dates, bigints and buffers are written as PostgreSQL reads them; objects become JSON. */
type Row<Table extends keyof Tables> = { readonly [Column in keyof Insertable<Tables[Table]>]?: unknown };

/**
 * Inserts many rows by one statement with one parameter, so that its text is the same for one row and for hundreds and
 * can be prepared. All rows name the same columns; those that none names get their defaults.
 */
export async function insertRows<Table extends keyof Tables>(
  tx: Tx,
  table: Table,
  rows: readonly Row<Table>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${toJsonRows(rows)}::json)
  `.execute(tx.db);
}

/** Rows as the text that `json_populate_recordset` reads, for statements that do more than insert them. */
export function toJsonRows(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return JSON.stringify(rows.map(toJson));
}

function toJson(row: Readonly<Record<string, unknown>>): unknown {
  const result: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === "bigint") result[column] = String(value);
    else if (Buffer.isBuffer(value)) result[column] = `\\x${value.toString("hex")}`;
    else result[column] = value;
  }
  return result;
}
