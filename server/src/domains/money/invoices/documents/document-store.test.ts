import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { aUser, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listBrokenSequences, listIssuedSince } from "./document-store.ts";

const HOUR_MS = 3_600_000;
const BEGIN_MS = new Date("2026-01-01T00:00:00Z").getTime();
const issuedAt = (sequence: number) => new Date(BEGIN_MS + sequence * HOUR_MS);

/** This many invoices, one an hour, whose numbers have no gap. */
async function issued(t: TestContext, count: number) {
  const { pool, database } = await testDatabase(t);
  const userId = await inTransaction(database, async (tx) => (await aUser(tx)).id);
  await pool.query(
    `insert into invoice_documents (number, prefix, year, sequence, user_id, from_at, until_at, issued_at, content)
     select 'A-2026-' || lpad(n::text, 6, '0'), 'A-', 2026, n, $1, at - interval '1 hour', at, at, '{}'
     from (select n, $2::timestamptz + n * interval '1 hour' as at from generate_series(1, $3::integer) as n) as each`,
    [userId, new Date(BEGIN_MS), count],
  );
  await pool.query("insert into invoice_sequences values ('A-', 2026, $1)", [count]);
  const remove = async (sequence: number) => {
    await pool.query("alter table invoice_documents disable trigger user");
    await pool.query("delete from invoice_documents where sequence = $1", [sequence]);
    await pool.query("alter table invoice_documents enable trigger user");
  };
  const brokenSince = async (sequence: number | undefined) =>
    listBrokenSequences(database.kysely, sequence === undefined ? undefined : issuedAt(sequence));
  return { pool, database, remove, brokenSince };
}

test("a missing number is found since a moment, at the end, and anywhere in a full check", async (t) => {
  for (const [removed, since, isFound] of [
    [undefined, 8, false],
    [9, 8, true],
    [8, 8, true],
    [7, 8, true],
    [10, 8, true],
    [10, 11, true],
    [10, undefined, true],
    [1, undefined, true],
    [5, undefined, true],
    [5, 8, false],
  ] as const) {
    const { remove, brokenSince } = await issued(t, 10);
    if (removed !== undefined) await remove(removed);
    const expected = isFound ? [{ name: "A-2026", storedCount: 9, lastSequence: 10 }] : [];
    assert.deepEqual(await brokenSince(since), expected, `${removed} of those since ${since}`);
  }
});

test("numbers outside any sequence are found", async (t) => {
  const { pool, brokenSince } = await issued(t, 3);
  await pool.query("update invoice_sequences set last_sequence = 2");
  const one = { name: "A-2026", storedCount: 3 };
  assert.deepEqual(await brokenSince(3), [{ ...one, lastSequence: 2 }]);
  await pool.query("delete from invoice_sequences");
  for (const since of [3, undefined]) assert.deepEqual(await brokenSince(since), [{ ...one, lastSequence: 0 }]);
});

/** Pages of invoices and their indexes that this connection has read; the number only grows within a transaction. */
async function pagesRead(db: Reader): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select sum(pg_stat_get_xact_blocks_fetched(oid))::integer as pages from pg_class
    where oid = 'invoice_documents'::regclass
      or oid in (select indexrelid from pg_index where indrelid = 'invoice_documents'::regclass)
  `.execute(db);
  return rows[0]?.pages ?? 0;
}

test("invoices since a moment are found without reading earlier ones", async (t) => {
  const count = 20_000;
  const { pool, database } = await issued(t, count);
  await pool.query("vacuum analyze invoice_documents");
  const since = issuedAt(count - 2);
  await database.kysely.transaction().execute(async (db) => {
    const before = await pagesRead(db);
    const documents = await listIssuedSince(db, { since, after: "", limit: 200 });
    assert.deepEqual(
      documents.map(({ number }) => number),
      ["A-2026-019998", "A-2026-019999", "A-2026-020000"],
    );
    assert.deepEqual(await listBrokenSequences(db, since), []);
    const pages = (await pagesRead(db)) - before;
    assert.ok(pages > 0 && pages < 50, `${pages} pages were read`);
  });
});
