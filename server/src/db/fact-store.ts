// The chain of facts as the audit reads it.
import { sql } from "kysely";
import type { FactHead, FactKind, FactLink } from "../base/facts.ts";
import type { Reader } from "./transaction.ts";

/** Links from a number on; only facts written at `from` or later are compared with their rows. */
export type LinkRange = { readonly nextLink: bigint; readonly from: Date | undefined };

export type ReadLink = FactLink & { readonly factCount: number; readonly subjects: readonly string[] };

export async function findFactHead(db: Reader): Promise<FactHead> {
  const row = await db.selectFrom("fact_head").select(["number", "sha256"]).executeTakeFirstOrThrow();
  return row;
}

/** A page of links with their facts, in order. */
export async function listLinks(
  db: Reader,
  { from, limit }: { readonly from: bigint; readonly limit: number },
): Promise<readonly ReadLink[]> {
  const { rows } = await sql<{
    readonly number: bigint;
    readonly made_at: Date;
    readonly fact_count: number;
    readonly sha256: string;
    readonly signature: string;
    readonly texts: readonly string[] | null;
    readonly subjects: readonly string[] | null;
  }>`
    select l.number, l.made_at, l.fact_count, l.sha256, l.signature, f.texts, f.subjects
    from (
      select * from fact_links where number >= ${from}::bigint order by number limit ${limit}::integer
    ) l
    cross join lateral (
      select array_agg(f.text order by f.position) as texts,
        array_agg(replace(f.kind, '_', ' ') || ' ' || f.subject order by f.position) as subjects
      from facts f where f.link_number = l.number
    ) f
    order by l.number
  `.execute(db);
  return rows.map((row) => ({
    number: row.number,
    madeAt: row.made_at,
    factCount: row.fact_count,
    sha256: row.sha256,
    signature: row.signature,
    texts: row.texts ?? [],
    subjects: row.subjects ?? [],
  }));
}

export async function findLinkHash(db: Reader, number: bigint): Promise<string | undefined> {
  const row = await db.selectFrom("fact_links").select("sha256").where("number", "=", number).executeTakeFirst();
  return row?.sha256;
}

/** The lowest number of a link made at a moment or later; one above the highest when there is none. */
export async function findNextLink(db: Reader, from: Date, atLeast: bigint): Promise<bigint> {
  const { rows } = await sql<{ number: bigint }>`
    select coalesce(
      (select min(number) from fact_links where number >= ${atLeast}::bigint and made_at >= ${from}::timestamptz),
      (select max(number) + 1 from fact_links),
      1
    )::bigint as number
  `.execute(db);
  return rows[0]?.number ?? 1n;
}

/** The number of facts whose link is missing. */
export async function countLooseFacts(db: Reader, nextLink: bigint): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from facts f
    where f.link_number >= ${nextLink}::bigint
      and not exists (select from fact_links l where l.number = f.link_number)
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Facts of a kind with numeric subjects, by buckets of 4096 numbers. */
export async function listFactBuckets(
  db: Reader,
  kind: FactKind,
  range: LinkRange,
): Promise<readonly { readonly bucket: bigint; readonly count: number; readonly fingerprint: string }[]> {
  const { rows } = await sql<{ bucket: bigint; count: number; fingerprint: string }>`
    select f.subject::bigint >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended(f.subject::bigint, 0)::numeric)::text as fingerprint
    from facts f join fact_links l on l.number = f.link_number
    where ${within(kind, range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

export async function listFactIds(
  db: Reader,
  kind: FactKind,
  range: LinkRange,
  bucket: bigint,
): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select f.subject::bigint as id
    from facts f join fact_links l on l.number = f.link_number
    where ${within(kind, range)} and f.subject::bigint >> 12 = ${bucket}::bigint
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}

function within(kind: FactKind, { nextLink, from }: LinkRange) {
  return sql<boolean>`f.kind = ${kind}::text and l.number >= ${nextLink}::bigint
    and l.made_at >= coalesce(${from ?? null}::timestamptz, '-infinity')`;
}

/** The current text of each subject of a kind: that of its last fact. */
export async function listLastFacts(
  db: Reader,
  kind: FactKind,
  subjects?: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ subject: string; text: string }>`
    select distinct on (f.subject) f.subject, f.text from facts f
    where f.kind = ${kind}::text and f.kind not in ('transfer', 'audit_event')
      and (${subjects === undefined}::boolean or f.subject = any(${[...(subjects ?? [])]}::text[]))
    order by f.subject, f.link_number desc, f.position desc
  `.execute(db);
  return new Map(rows.map(({ subject, text }) => [subject, text]));
}

/** The facts of a kind since a link, for kinds with one fact for each subject. */
export async function listFactsSince(
  db: Reader,
  kind: FactKind,
  range: LinkRange,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ subject: string; text: string }>`
    select f.subject, f.text from facts f join fact_links l on l.number = f.link_number
    where ${within(kind, range)}
    order by f.link_number, f.position
  `.execute(db);
  return new Map(rows.map(({ subject, text }) => [subject, text]));
}
