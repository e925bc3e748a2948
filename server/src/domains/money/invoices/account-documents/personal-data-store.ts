import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { PERSONAL_ROWS_MAX, type PersonalData, type PersonalRows } from "../../../../base/personal-data.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Documents that were issued to a person, the newest first. */
export async function collectDocumentData(db: Reader, userId: UserId): Promise<PersonalData> {
  const { rows: documents } = await sql<PersonalRows[number]>`
    select number, kind, from_at, until_at, issued_at, content from account_documents
    where user_id = ${userId} order by issued_at desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  return { documents };
}
