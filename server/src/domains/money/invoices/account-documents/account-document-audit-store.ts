// Receipts, statements and credit notes as the audit reads them.
import { sql } from "kysely";
import type { Reader } from "../../../../db/transaction.ts";

/**
 * Number sequences with gaps: the count of documents, and the count that should exist. Of documents issued before a
 * moment, only the last one is checked.
 */
export async function listBrokenAccountSequences(
  db: Reader,
  since: Date | undefined,
): Promise<readonly { readonly name: string; readonly storedCount: number; readonly lastSequence: number }[]> {
  const { rows } = await sql<{ name: string; storedCount: number; lastSequence: number }>`
    with recent as (
      select kind, prefix, year, min(sequence) as first from account_documents
      where issued_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
      group by kind, prefix, year
    ), examined as (
      select kind, prefix, year, coalesce(last_sequence, 0) as last,
        case when ${since === undefined}::boolean then 1 else greatest(coalesce(first, last_sequence) - 1, 1) end as first
      from account_document_sequences full join recent using (kind, prefix, year)
    )
    select replace(kind, '_', ' ') || 's ' || prefix || year as name, examined.first - 1 + stored as "storedCount",
      last as "lastSequence"
    from examined cross join lateral (
      select count(*)::integer as stored, max(sequence) as highest from account_documents d
      where d.kind = examined.kind and d.prefix = examined.prefix and d.year = examined.year
        and d.sequence >= examined.first
    ) as counted
    where (examined.first - 1 + stored, highest) is distinct from (last, last)
    order by 1
  `.execute(db);
  return rows;
}
