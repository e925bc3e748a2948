// Documents of all accounts, for the operator's book-keeping.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { DocumentContent } from "../documents/rules/document.ts";
import type { HeadPlace } from "./account-document-store.ts";
import type { CreditNote, Receipt, Statement } from "./rules/account-document.ts";

type About = {
  readonly number: string;
  readonly userId: UserId;
  readonly issuedAt: Date;
  readonly month: { readonly from: Date; readonly until: Date } | undefined;
  readonly refersTo: string | undefined;
};

/** A document of any kind, invoices included, with its content. */
export type IssuedDocument = About &
  (
    | { readonly kind: "invoice"; readonly content: DocumentContent }
    | Pick<Receipt, "kind" | "content">
    | Pick<Statement, "kind" | "content">
    | Pick<CreditNote, "kind" | "content">
  );

type IssuedFilter = {
  /** Issued at `from` or later and before `until`. */
  readonly from: Date;
  readonly until: Date;
  /** The kind to list; undefined for all. */
  readonly kind: IssuedDocument["kind"] | undefined;
  readonly after: HeadPlace | undefined;
  readonly limit: number;
};

type Row = {
  readonly number: string;
  readonly kind: string;
  readonly user_id: UserId;
  readonly issued_at: Date;
  readonly from_at: Date | null;
  readonly until_at: Date | null;
  readonly refers_to: string | null;
  readonly content: unknown;
};

/** Documents of all users in the order of issue, after one of them. */
export async function listIssuedDocuments(
  db: Reader,
  { from, until, kind, after, limit }: IssuedFilter,
): Promise<readonly IssuedDocument[]> {
  const page = sql`issued_at >= ${after?.issuedAt ?? from}::timestamptz and issued_at < ${until}::timestamptz
    and (issued_at, number) > (${after?.issuedAt ?? from}::timestamptz, ${after?.number ?? ""}::text)
    order by issued_at, number limit ${limit}::integer`;
  const { rows } = await sql<Row>`
    select number, kind, user_id, issued_at, from_at, until_at, refers_to, content from (
      (select number, kind, user_id, issued_at, from_at, until_at, refers_to, content from account_documents
       where kind = coalesce(${kind ?? null}::text, kind) and ${page})
      union all
      (select number, 'invoice', user_id, issued_at, from_at, until_at, null, content from invoice_documents
       where coalesce(${kind ?? null}::text, 'invoice') = 'invoice' and ${page})
    ) d
    order by issued_at, number limit ${limit}::integer
  `.execute(db);
  return rows.map(toIssued);
}

function toIssued(row: Row): IssuedDocument {
  return {
    number: row.number,
    kind: row.kind,
    userId: row.user_id,
    issuedAt: row.issued_at,
    month: row.from_at === null || row.until_at === null ? undefined : { from: row.from_at, until: row.until_at },
    refersTo: row.refers_to ?? undefined,
    content: row.content,
  } as IssuedDocument;
}
