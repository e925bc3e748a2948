import { sql } from "kysely";
import { canonical } from "../../../../base/facts.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import {
  accountNumberOf,
  type AccountDocument,
  type AccountDocumentKind,
  type CreditNote,
  type Receipt,
  type Statement,
} from "./rules/account-document.ts";

const COLUMNS = [
  "number",
  "kind",
  "user_id",
  "from_at",
  "until_at",
  "transfer_id",
  "refers_to",
  "issued_at",
  "content",
] as const;

type Row = {
  readonly number: string;
  readonly kind: string;
  readonly user_id: UserId;
  readonly from_at: Date | null;
  readonly until_at: Date | null;
  readonly transfer_id: bigint | null;
  readonly refers_to: string | null;
  readonly issued_at: Date;
  readonly content: unknown;
};

function toDocument(row: Row): AccountDocument {
  return {
    number: row.number,
    kind: row.kind,
    userId: row.user_id,
    month: row.from_at === null || row.until_at === null ? undefined : { from: row.from_at, until: row.until_at },
    transferId: row.transfer_id ?? undefined,
    refersTo: row.refers_to ?? undefined,
    issuedAt: row.issued_at,
    content: row.content,
  } as AccountDocument;
}

/** The document of this number and user; undefined when it is absent or another user's. */
export async function findAccountDocument(
  db: Reader,
  userId: UserId,
  number: string,
): Promise<AccountDocument | undefined> {
  const row = await db
    .selectFrom("account_documents")
    .select(COLUMNS)
    .where("number", "=", number)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row && toDocument(row);
}

/** Documents of an account that refer to this one, oldest first. */
export async function listReferring(db: Reader, number: string): Promise<readonly AccountDocument[]> {
  const rows = await db
    .selectFrom("account_documents")
    .select(COLUMNS)
    .where("refers_to", "=", number)
    .orderBy("issued_at")
    .orderBy("number")
    .execute();
  return rows.map(toDocument);
}

/** Documents of a kind issued since a moment, in the order of their numbers, after one of them. */
export async function listAccountDocumentsSince(
  db: Reader,
  kind: AccountDocumentKind,
  { since, after, limit }: { readonly since: Date | undefined; readonly after: string; readonly limit: number },
): Promise<readonly AccountDocument[]> {
  const rows = await db
    .selectFrom("account_documents")
    .select(COLUMNS)
    .where("kind", "=", kind)
    .where("number", ">", after)
    .$if(since !== undefined, (query) => query.where("issued_at", ">=", since ?? null))
    .orderBy("number")
    .limit(limit)
    .execute();
  return rows.map(toDocument);
}

/** The number of the first receipt of a payment; undefined when there is none. */
export async function findReceiptOfPayment(db: Reader, userId: UserId, paymentId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("account_documents")
    .select("number")
    .where("user_id", "=", userId)
    .where("kind", "=", "receipt")
    .where(
      sql<boolean>`content ->> 'event' = 'payment' and (content ->> 'payment_id')::integer = ${paymentId}::integer`,
    )
    .orderBy("issued_at")
    .orderBy("number")
    .limit(1)
    .executeTakeFirst();
  return row?.number;
}

/** The last statement of a host before a month. */
export async function findLastStatement(db: Reader, userId: UserId, before: Date): Promise<Statement | undefined> {
  const row = await db
    .selectFrom("account_documents")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("kind", "=", "statement")
    .where("from_at", "<", before)
    .orderBy("from_at", "desc")
    .limit(1)
    .executeTakeFirst();
  const document = row && toDocument(row);
  return document?.kind === "statement" ? document : undefined;
}

/** Those of these hosts who have a statement of this month. */
export async function listStatedAmong(
  db: Reader,
  userIds: readonly UserId[],
  from: Date,
): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom("account_documents")
    .select("user_id")
    .where("kind", "=", "statement")
    .where("from_at", "=", from)
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** A document of any kind, invoices included, as lists show it. */
export type DocumentHead = {
  readonly number: string;
  readonly kind: AccountDocumentKind | "invoice";
  readonly issuedAt: Date;
  readonly month: { readonly from: Date; readonly until: Date } | undefined;
  readonly refersTo: string | undefined;
  readonly totalCents: number;
};

export type HeadPlace = { readonly issuedAt: Date; readonly number: string };

type HeadFilter = {
  /** The kind to list; undefined for all. */
  readonly kind: DocumentHead["kind"] | undefined;
  readonly before: HeadPlace | undefined;
  readonly limit: number;
};

/** Documents of a user, newest first, before one of them. */
export async function listHeads(
  db: Reader,
  userId: UserId,
  { kind, before, limit }: HeadFilter,
): Promise<readonly DocumentHead[]> {
  const { rows } = await sql<{
    number: string;
    kind: DocumentHead["kind"];
    issued_at: Date;
    from_at: Date | null;
    until_at: Date | null;
    refers_to: string | null;
    total_cents: number;
  }>`
    select number, kind, issued_at, from_at, until_at, refers_to, (content ->> 'total_cents')::float8 as total_cents
    from (${allOf(userId, kind)}) d
    where ${before?.number ?? null}::text is null
      or (issued_at, number) < (${before?.issuedAt ?? null}::timestamptz, ${before?.number ?? null}::text)
    order by issued_at desc, number desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    number: row.number,
    kind: row.kind,
    issuedAt: row.issued_at,
    month: row.from_at === null || row.until_at === null ? undefined : { from: row.from_at, until: row.until_at },
    refersTo: row.refers_to ?? undefined,
    totalCents: row.total_cents,
  }));
}

export async function countHeads(db: Reader, userId: UserId, kind: HeadFilter["kind"]): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from (${allOf(userId, kind)}) d
  `.execute(db);
  return rows[0]?.total ?? 0;
}

function allOf(userId: UserId, kind: HeadFilter["kind"]) {
  return sql`
    select number, kind, issued_at, from_at, until_at, refers_to, content from account_documents
    where user_id = ${userId}::integer and kind = coalesce(${kind ?? null}::text, kind)
    union all
    select number, 'invoice', issued_at, from_at, until_at, null, content from invoice_documents
    where user_id = ${userId}::integer and coalesce(${kind ?? null}::text, 'invoice') = 'invoice'`;
}

/** The progress of issuing documents of a kind; see the table's columns. */
export type KindClock = { readonly doneUntil: Date; readonly doneUserId: number };

export async function readKindClock(db: Reader, kind: AccountDocumentKind): Promise<KindClock> {
  const row = await db
    .selectFrom("account_document_clocks")
    .select(["done_until_at", "done_user_id"])
    .where("kind", "=", kind)
    .executeTakeFirstOrThrow();
  return { doneUntil: row.done_until_at, doneUserId: row.done_user_id };
}

/**
 * Locks the clock of a kind. Until the transaction ends nobody else issues such documents, so numbers follow the order
 * of issue.
 */
export async function lockKindClock(tx: Tx, kind: AccountDocumentKind): Promise<KindClock> {
  const row = await tx.db
    .selectFrom("account_document_clocks")
    .select(["done_until_at", "done_user_id"])
    .where("kind", "=", kind)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { doneUntil: row.done_until_at, doneUserId: row.done_user_id };
}

export async function storeKindClock(
  tx: Tx,
  kind: AccountDocumentKind,
  { doneUntil, doneUserId }: KindClock,
): Promise<void> {
  await tx.db
    .updateTable("account_document_clocks")
    .set({ done_until_at: doneUntil, done_user_id: doneUserId })
    .where("kind", "=", kind)
    .execute();
}

/** Those of these transfers that have a document. */
export async function listDocumentedAmong(db: Reader, ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  const { rows } = await sql<{ transfer_id: bigint }>`
    select transfer_id from account_documents where transfer_id = any(${[...ids]}::bigint[])
  `.execute(db);
  return new Set(rows.map((row) => row.transfer_id));
}

/** A document without a number. */
export type Draft =
  | Omit<Receipt, "number" | "issuedAt">
  | Omit<Statement, "number" | "issuedAt">
  | Omit<CreditNote, "number" | "issuedAt">;

/** Gives a document the next number of its kind, and stores it. The caller holds the lock of the kind's clock. */
export async function issueDocument(tx: Tx, prefix: string, issued: Draft): Promise<string> {
  const { kind, userId, month, transferId, refersTo, content } = issued;
  const year = tx.now.getUTCFullYear();
  const { last_sequence: sequence } = await tx.db
    .insertInto("account_document_sequences")
    .values({ kind, prefix, year, last_sequence: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(["kind", "prefix", "year"])
        .doUpdateSet({ last_sequence: sql<number>`account_document_sequences.last_sequence + 1` }),
    )
    .returning("last_sequence")
    .executeTakeFirstOrThrow();
  const number = accountNumberOf(kind, prefix, year, sequence);
  invariant(number.endsWith(String(sequence)), "the number of a document names its sequence");
  await tx.db
    .insertInto("account_documents")
    .values({
      number,
      kind,
      prefix,
      year,
      sequence,
      user_id: userId,
      from_at: month?.from ?? null,
      until_at: month?.until ?? null,
      transfer_id: transferId ?? null,
      refers_to: refersTo ?? null,
      issued_at: tx.now,
      content: JSON.stringify(content),
    })
    .execute();
  const row = tx.digest(accountDocumentText({ ...issued, number, issuedAt: tx.now } as AccountDocument));
  tx.noteFact({ kind, subject: number, content: { user: userId, sequence: `${prefix}${year}`, row } });
  return number;
}

/** The full text of a document, for the digest in its fact. */
export function accountDocumentText(document: AccountDocument): string {
  const { number, kind, userId, month, transferId, refersTo, issuedAt, content } = document;
  const about = [month?.from ?? null, month?.until ?? null, transferId?.toString() ?? null, refersTo ?? null];
  return canonical([number, kind, userId, ...about, issuedAt, JSON.parse(JSON.stringify(content))]);
}
