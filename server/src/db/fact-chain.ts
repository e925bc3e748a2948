import { sql } from "kysely";
import { hashLink, textOfFact, type Fact, type FactHead, type FactKeeper } from "../base/facts.ts";
import { integers, texts as textArray } from "./arrays.ts";
import type { Transaction } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Writes the facts of a transaction as one link of the chain. It is the last thing a transaction does: the head is locked
 * until the commit, and all transactions with facts, of all servers, wait for each other there and nowhere else.
 */
export async function appendFacts(
  { db, now }: { readonly db: Transaction<Tables>; readonly now: Date },
  { signer }: FactKeeper,
  facts: readonly Fact[],
): Promise<FactHead> {
  const { rows } = await sql<FactHead & { origin: Readonly<Record<string, unknown>> }>`
    select number, sha256, origin from fact_head for update
  `.execute(db);
  const [last] = rows;
  if (last === undefined) throw new Error("the table fact_head has lost its row");
  const origin: Fact = { kind: "origin", subject: "1", content: { ...last.origin } };
  const written = (last.number === 0n ? [origin, ...facts] : facts).map((fact) => textOfFact(fact, now));
  const texts = written.map(({ text }) => text);
  const head = hashLink(last, now, texts);
  await sql`
    with link as (
      insert into fact_links (number, made_at, fact_count, sha256, signature)
      values (
        ${head.number}::bigint, ${now}::timestamptz, ${texts.length}::integer, ${head.sha256}::text,
        ${signer.sign(head)}::text
      )
    ), written as (
      insert into facts (link_number, position, kind, subject, text)
      select ${head.number}::bigint, unnest(${integers(texts.map((_, index) => index + 1))}::integer[]),
        unnest(${textArray(written.map(({ kind }) => kind))}::text[]),
        unnest(${textArray(written.map(({ subject }) => subject))}::text[]), unnest(${textArray(texts)}::text[])
    )
    update fact_head set number = ${head.number}::bigint, sha256 = ${head.sha256}::text
  `.execute(db);
  return head;
}
