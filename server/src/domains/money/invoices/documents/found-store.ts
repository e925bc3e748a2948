import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** A document of any account as administrators find it. */
export type FoundDocument = {
  readonly number: string;
  /** `invoice`, or the kind of another document of an account. */
  readonly kind: string;
  readonly userId: UserId;
  readonly issuedAt: Date;
};

/** Documents of all accounts whose number begins with a text in any case, the newest first. */
export async function searchDocuments(db: Reader, text: string, limit: number): Promise<readonly FoundDocument[]> {
  const { rows } = await sql<{
    readonly number: string;
    readonly kind: string;
    readonly user_id: UserId;
    readonly issued_at: Date;
  }>`
    select number, kind, user_id, issued_at from (
      select number, 'invoice' as kind, user_id, issued_at from invoice_documents
      where starts_with(upper(number), ${text.toUpperCase()}::text)
      union all
      select number, kind, user_id, issued_at from account_documents
      where starts_with(upper(number), ${text.toUpperCase()}::text)
    ) as found
    order by issued_at desc, number desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({ number: row.number, kind: row.kind, userId: row.user_id, issuedAt: row.issued_at }));
}
