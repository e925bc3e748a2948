import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

const ROWS_MAX = 10_000;

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Documents that were issued to a person, the newest first. */
export async function collectDocumentData(db: Reader, userId: UserId): Promise<Readonly<Record<string, Rows>>> {
  const { rows: documents } = await sql<Rows[number]>`
    select number, kind, from_at, until_at, issued_at, content from account_documents
    where user_id = ${userId} order by issued_at desc limit ${ROWS_MAX}
  `.execute(db);
  return { documents };
}
