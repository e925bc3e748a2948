// Invoices with usage that was charged in a later month than it happened in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { postCharges, type TestCharge } from "../../../../../../test/support/money/charge-lines.ts";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR, nanos } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { postTransfers } from "../../ledger/index.ts";
import { chargeDayLoop } from "../../charging/for-assembly.ts";
import { listWrongDocuments } from "./document-audit.ts";
import { issueInvoices } from "./document-service.ts";
import { listDocuments, type InvoiceDocument } from "./document-store.ts";
import { UNNAMED_SELLER } from "../index.ts";

const { database, pool } = await testDatabase();
const DOLLAR = NANOS_PER_DOLLAR;
const HOUR_MS = 3_600_000;

const clockAt = (at: string): Clock => ({ ...systemClock, now: () => new Date(at) });

async function aRenter(at: string): Promise<{ readonly renter: TestCaller; readonly host: TestCaller }> {
  const [renter, host] = [await aCaller(database), await aCaller(database)];
  await withTransaction(database, clockAt(at), (tx) => postTransfers(tx, [grantOf(renter.id, 1_000n * DOLLAR)]));
  return { renter, host };
}

const hours = (count: number, rest: Partial<TestCharge> = {}): TestCharge => ({
  amount: BigInt(count) * DOLLAR,
  quantity: BigInt(count * HOUR_MS),
  unitPrice: DOLLAR,
  ...rest,
});

/** Issues the invoices that are due by a moment, and returns the renter's, oldest first. */
async function issuedBy(at: string, { id }: TestCaller): Promise<readonly InvoiceDocument[]> {
  await chargeDayLoop({ database, clock: clockAt(at) }).run();
  await issueInvoices({ database, clock: clockAt(at), seller: UNNAMED_SELLER });
  assert.deepEqual((await listWrongDocuments(database.kysely, undefined)).wrong, []);
  return (await listDocuments(database.kysely, id, { before: undefined, limit: 100 })).toReversed();
}

/** 01-31 18:00, in UTC. */
const minute = (ms: number) => new Date(ms).toISOString().slice(5, 16).replace("T", " ");

const linesOf = (document: InvoiceDocument | undefined) =>
  (document?.content.lines ?? []).map(({ component, from_ms: from, to_ms: to, amount_cents: cents, is_late: isLate }) =>
    [component, minute(from), minute(to), cents, isLate === true].join(" "),
  );

test("the first month of edition 2 has the usage that earlier months left out, and issued invoices stay unchanged", async () => {
  const { renter, host } = await aRenter("2025-01-05T00:00:00Z");
  const between = { payer: renter.id, host: host.id };
  await pool.query("update invoice_document_clock set usage_by_month_from_at = '2025-02-01T00:00:00Z'");
  await postCharges(database, "2025-01-20T10:00:00Z", between, [hours(1)]);
  await postCharges(database, "2025-02-01T01:00:00Z", between, [hours(3)]);
  const [january, february] = await issuedBy("2025-03-03T00:00:00Z", renter);
  assert.equal(january?.content.edition, undefined);
  assert.deepEqual(linesOf(january), ["gpu 01-20 09:00 01-20 10:00 100 false"]);
  assert.deepEqual(linesOf(february), [
    "gpu 02-01 00:00 02-01 01:00 100 false",
    "gpu 01-31 22:00 02-01 00:00 200 true",
  ]);
});

test("a run across the end of a month is divided there, with each part on the invoice of its month", async () => {
  const { renter, host } = await aRenter("2026-01-05T00:00:00Z");
  const between = { payer: renter.id, host: host.id };
  await postCharges(database, "2026-01-31T20:00:00Z", between, [hours(2)]);
  await postCharges(database, "2026-02-01T01:00:00Z", between, [
    hours(4, { discountPpm: 250_000, amount: 3n * DOLLAR }),
    { component: "disk", amount: 24n * DOLLAR, quantity: BigInt(24 * HOUR_MS), unitPrice: 720n * DOLLAR, volume: 9 },
  ]);
  await postCharges(database, "2026-02-01T03:00:00Z", between, [hours(2)]);
  const [january, february] = await issuedBy("2026-03-03T00:00:00Z", renter);
  assert.deepEqual(linesOf(january), [
    "gpu 01-31 18:00 02-01 00:00 500 false",
    "discount 01-31 18:00 02-01 00:00 -75 false",
    "disk 01-31 01:00 02-01 00:00 2300 false",
  ]);
  assert.deepEqual(linesOf(february), [
    "gpu 02-01 00:00 02-01 03:00 300 false",
    "discount 02-01 00:00 02-01 03:00 -25 false",
    "disk 02-01 00:00 02-01 01:00 100 false",
  ]);
  const [ended, begun] = [january?.content.balance, february?.content.balance];
  assert.deepEqual([ended?.opening_cents, ended?.closing_cents], [0, 100_000 - 2_725]);
  assert.deepEqual([begun?.opening_nanos, begun?.closing_cents], [ended?.closing_nanos, 100_000 - 2_725 - 375]);
});

test("usage that is charged after the invoice of its month is on the next one, with its own time", async () => {
  const { renter, host } = await aRenter("2026-03-05T00:00:00Z");
  const between = { payer: renter.id, host: host.id };
  await postCharges(database, "2026-03-20T10:00:00Z", between, [hours(1)]);
  // A machine that was away reports two months later the usage of a run across the end of the first month.
  await postCharges(database, "2026-05-10T10:00:00Z", between, [
    hours(4, { endedAt: "2026-04-01T01:00:00Z" }),
    hours(2),
  ]);
  const [march, may, ...others] = await issuedBy("2026-06-03T00:00:00Z", renter);
  assert.deepEqual(others, []);
  assert.deepEqual(linesOf(march), ["gpu 03-20 09:00 03-20 10:00 100 false"]);
  assert.deepEqual(linesOf(may), [
    "gpu 05-10 08:00 05-10 10:00 200 false",
    "gpu 03-31 21:00 04-01 00:00 300 true",
    "gpu 04-01 00:00 04-01 01:00 100 true",
  ]);
  assert.match(may?.content.lines[1]?.description ?? "", /, charged late$/);
});

test("late usage is on exactly one invoice, and on none before it happened", async () => {
  const { renter, host } = await aRenter("2026-07-01T00:00:00Z");
  const between = { payer: renter.id, host: host.id };
  const start = Date.parse("2026-07-25T00:00:00Z");
  let total = 0n;
  for (let step = 1; step <= 60; step += 1) {
    const [length, delay] = [(step * 7) % 31, (step * step * 13) % 1_100];
    const endMs = start + step * 29 * HOUR_MS;
    const amount = nanos(BigInt(step) * 123_456_789n);
    total += amount;
    await postCharges(database, new Date(endMs + delay * HOUR_MS), between, [
      hours(length, { amount, endedAt: new Date(endMs).toISOString(), instance: 71 + (step % 3) }),
    ]);
  }
  const documents = await issuedBy("2027-01-03T00:00:00Z", renter);
  const usage = documents.reduce((sum, { content }) => {
    const { opening_nanos: opening, closing_nanos: closing } = content.balance;
    return sum + BigInt(opening) - BigInt(closing);
  }, 0n);
  assert.equal(usage, total - 1_000n * DOLLAR);
  for (const { from, until, content } of documents) {
    assert.ok(content.lines.reduce((sum, line) => sum + line.amount_cents, 0) === content.total_cents);
    for (const { is_late: isLate, from_ms: fromMs, to_ms: toMs } of content.lines) {
      assert.ok(toMs <= until.getTime() && (isLate === true ? toMs <= from.getTime() : fromMs >= from.getTime()));
    }
  }
});
