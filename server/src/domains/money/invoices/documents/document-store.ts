import { sql } from "kysely";
import { canonical } from "../../../../base/facts.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { DocumentContent } from "./rules/document.ts";

/** A monthly invoice as issued. */
export type InvoiceDocument = {
  readonly number: string;
  readonly userId: UserId;
  readonly from: Date;
  readonly until: Date;
  readonly issuedAt: Date;
  readonly content: DocumentContent;
};

const COLUMNS = ["number", "user_id", "from_at", "until_at", "issued_at", "content"] as const;

type DocumentRow = {
  readonly number: string;
  readonly user_id: number;
  readonly from_at: Date;
  readonly until_at: Date;
  readonly issued_at: Date;
  readonly content: unknown;
};

function toDocument(row: DocumentRow): InvoiceDocument {
  return {
    number: row.number,
    userId: asId<UserId>(row.user_id),
    from: row.from_at,
    until: row.until_at,
    issuedAt: row.issued_at,
    content: row.content as DocumentContent,
  };
}

/** A user's invoices before a month, newest month first. */
export async function listDocuments(
  db: Reader,
  userId: UserId,
  { before, limit }: { readonly before: Date | undefined; readonly limit: number },
): Promise<readonly InvoiceDocument[]> {
  const query = db.selectFrom("invoice_documents").select(COLUMNS).where("user_id", "=", userId);
  const rows = await (before === undefined ? query : query.where("from_at", "<", before))
    .orderBy("from_at", "desc")
    .limit(limit)
    .execute();
  return rows.map(toDocument);
}

export async function countDocuments(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("invoice_documents")
    .select(sql<number>`count(*)::integer`.as("total"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return row.total;
}

/** The invoice of this number and user; undefined when it is absent or another user's. */
export async function findDocument(db: Reader, userId: UserId, number: string): Promise<InvoiceDocument | undefined> {
  const row = await db
    .selectFrom("invoice_documents")
    .select(COLUMNS)
    .where("number", "=", number)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row && toDocument(row);
}

/** Invoices issued since a moment, in the order of their numbers, after one of them. */
export async function listIssuedSince(
  db: Reader,
  { since, after, limit }: { readonly since: Date | undefined; readonly after: string; readonly limit: number },
): Promise<readonly InvoiceDocument[]> {
  const rows = await db
    .selectFrom("invoice_documents")
    .select(COLUMNS)
    .where(sql<boolean>`issued_at >= coalesce(${since ?? null}::timestamptz, '-infinity')`)
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit)
    .execute();
  return rows.map(toDocument);
}

/**
 * Number sequences with gaps: the count of invoices, and the count that should exist. Of invoices issued before a
 * moment, only the last one is checked.
 */
export async function listBrokenSequences(
  db: Reader,
  since: Date | undefined,
): Promise<readonly { readonly name: string; readonly storedCount: number; readonly lastSequence: number }[]> {
  const { rows } = await sql<{ name: string; storedCount: number; lastSequence: number }>`
    with recent as (
      select prefix, year, min(sequence) as first from invoice_documents
      where issued_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
      group by prefix, year
    ), examined as (
      select prefix, year, coalesce(last_sequence, 0) as last,
        case when ${since === undefined}::boolean then 1 else greatest(coalesce(first, last_sequence) - 1, 1) end as first
      from invoice_sequences full join recent using (prefix, year)
    )
    select prefix || year as name, examined.first - 1 + stored as "storedCount", last as "lastSequence"
    from examined cross join lateral (
      select count(*)::integer as stored, max(sequence) as highest from invoice_documents d
      where d.prefix = examined.prefix and d.year = examined.year and d.sequence >= examined.first
    ) as counted
    where (examined.first - 1 + stored, highest) is distinct from (last, last)
    order by 1
  `.execute(db);
  return rows;
}

export type DocumentClock = {
  /** The first unfinished month; undefined before the first movement of money. */
  readonly nextFrom: Date | undefined;
  /** Users up to this id have their invoices of that month. */
  readonly doneUserId: number;
};

/** The first month whose invoices contain the usage that happened in it (edition 2); undefined for all months. */
export async function readUsageByMonthFrom(db: Reader): Promise<Date | undefined> {
  const row = await db.selectFrom("invoice_document_clock").select("usage_by_month_from_at").executeTakeFirstOrThrow();
  return row.usage_by_month_from_at ?? undefined;
}

export async function readDocumentClock(db: Reader): Promise<DocumentClock> {
  const row = await db
    .selectFrom("invoice_document_clock")
    .select(["next_from_at", "done_user_id"])
    .executeTakeFirstOrThrow();
  return { nextFrom: row.next_from_at ?? undefined, doneUserId: row.done_user_id };
}

/** Locks the clock, so that one process at a time issues invoices. */
export async function lockDocumentClock(tx: Tx): Promise<DocumentClock> {
  const row = await tx.db
    .selectFrom("invoice_document_clock")
    .select(["next_from_at", "done_user_id"])
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { nextFrom: row.next_from_at ?? undefined, doneUserId: row.done_user_id };
}

export async function setDocumentClock(tx: Tx, { nextFrom, doneUserId }: DocumentClock): Promise<void> {
  await tx.db
    .updateTable("invoice_document_clock")
    .set({ next_from_at: nextFrom ?? null, done_user_id: doneUserId })
    .execute();
}

/**
 * Takes the next number of this prefix and year. Its row stays locked until the transaction ends, so that no number is
 * lost.
 */
export async function takeSequence(tx: Tx, prefix: string, year: number): Promise<number> {
  const row = await tx.db
    .insertInto("invoice_sequences")
    .values({ prefix, year, last_sequence: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(["prefix", "year"])
        .doUpdateSet({ last_sequence: sql<number>`invoice_sequences.last_sequence + 1` }),
    )
    .returning("last_sequence")
    .executeTakeFirstOrThrow();
  return row.last_sequence;
}

/** Those of these users who have an invoice of this month. */
export async function listIssuedAmong(
  db: Reader,
  userIds: readonly UserId[],
  from: Date,
): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom("invoice_documents")
    .select("user_id")
    .where("from_at", "=", from)
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

export async function insertDocument(
  tx: Tx,
  {
    prefix,
    year,
    sequence,
    document,
  }: {
    readonly prefix: string;
    readonly year: number;
    readonly sequence: number;
    readonly document: InvoiceDocument;
  },
): Promise<void> {
  const { number, userId, from, until, issuedAt, content } = document;
  invariant(number.endsWith(String(sequence)), "the number of an invoice names its sequence");
  await tx.db
    .insertInto("invoice_documents")
    .values({
      number,
      prefix,
      year,
      sequence,
      user_id: userId,
      from_at: from,
      until_at: until,
      issued_at: issuedAt,
      content: JSON.stringify(content),
    })
    .execute();
  const said = { user: userId, sequence: `${prefix}${year}`, row: tx.digest(documentText(document)) };
  tx.noteFact({ kind: "invoice", subject: number, content: said });
}

/** The full text of an invoice, for the digest in its fact. */
export function documentText({ number, userId, from, until, issuedAt, content }: InvoiceDocument): string {
  return canonical([number, userId, from, until, issuedAt, JSON.parse(JSON.stringify(content))]);
}

/** The last invoice of a user before a month. */
export async function findLastDocument(db: Reader, userId: UserId, before: Date): Promise<InvoiceDocument | undefined> {
  const [last] = await listDocuments(db, userId, { before, limit: 1 });
  return last;
}
