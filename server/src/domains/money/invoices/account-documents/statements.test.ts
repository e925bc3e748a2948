import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { readPdf } from "../../../../../../test/support/money/pdf-text.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import {
  createTransferPoster,
  creditOf,
  earningsOf,
  FEES,
  postTransfers,
  type TransferRequest,
} from "../../ledger/index.ts";
import { PAYOUTS, type AccountRef } from "../../ledger/for-payments.ts";
import { invoiceRoutes, listWrongAccountDocuments, UNNAMED_SELLER, type Seller } from "../index.ts";
import { listAccountDocumentsSince } from "./account-document-store.ts";
import type { Statement } from "./rules/account-document.ts";
import { issueStatements } from "./statement-service.ts";

const { database, pool } = await testDatabase();
let now = new Date("2026-01-01T00:00:00Z");
const clock: Clock = { ...systemClock, now: () => now };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const SELLER: Seller = { ...UNNAMED_SELLER, name: "Nord GmbH", country: "DE", taxId: "DE123" };

type Kind = "gpu" | "disk" | "traffic" | "fee" | "payout" | "returned" | "failure" | "own_credit";
type Move = { readonly kind: Kind; readonly day: number; readonly machine: number; readonly amount: bigint };

function requestOf(host: TestCaller, renter: TestCaller, { kind, machine, amount }: Move): TransferRequest {
  const [own, theirs] = [earningsOf(host.id), creditOf(renter.id)];
  const move = (debit: AccountRef, credit: AccountRef, code: TransferRequest["code"], cause = {}) =>
    transferOf({ debit, credit, amount, code, cause });
  switch (kind) {
    case "gpu":
      return move(theirs, own, "usage_gpu", { machine_id: machine });
    case "disk":
      return move(theirs, own, "usage_storage", machine === 1 ? {} : { machine_id: machine });
    case "traffic":
      return move(theirs, own, "usage_bandwidth_up", { machine_id: machine });
    case "fee":
      return move(own, FEES, "fee", { payout_id: machine });
    case "payout":
      return move(own, PAYOUTS, "payout", { payout_id: machine });
    case "returned":
      return move(PAYOUTS, own, "payout_returned", { payout_id: machine });
    case "failure":
      return move(own, theirs, "host_credit", { machine_id: machine });
    case "own_credit":
      return move(own, creditOf(host.id), "credit_transfer");
  }
}

/**
 * Posts each movement at noon of its day of 2026. The host earns $1000 on the first day, so that no movement is
 * refused.
 */
async function play(moves: readonly Move[]): Promise<TestCaller> {
  const [host, renter] = [await aCaller(database), await aCaller(database)];
  const first: Move = { kind: "gpu", day: 0, machine: 1, amount: 1_000n * DOLLAR };
  const post = async (day: number, requests: readonly TransferRequest[]) => {
    now = new Date(Date.UTC(2026, 0, 1 + day, 12));
    const outcomes = await withTransaction(database, clock, (tx) => postTransfers(tx, requests));
    assert.ok(outcomes.every(({ kind }) => kind === "posted"));
  };
  await post(0, [grantOf(renter.id, 9_000n * DOLLAR), requestOf(host, renter, first)]);
  await pool.query("update account_document_clocks set done_until_at = '2000-01-01', done_user_id = 0");
  for (const [day, own] of Map.groupBy(
    moves.toSorted((a, b) => a.day - b.day),
    (one) => one.day,
  )) {
    await post(
      day,
      own.map((one) => requestOf(host, renter, one)),
    );
  }
  return host;
}

/** Issues the statements of all months before a moment, and returns the host's, oldest first. */
async function statementsOf(host: TestCaller, at: string, seller: Seller = SELLER): Promise<readonly Statement[]> {
  now = new Date(at);
  await issueStatements({ database, clock, seller });
  const all = await listAccountDocumentsSince(database.kysely, "statement", {
    since: undefined,
    after: "",
    limit: 999,
  });
  return all.flatMap((one) => (one.kind === "statement" && one.userId === host.id ? [one] : []));
}

const addUp = (texts: readonly string[]) => texts.reduce((sum, text) => sum + BigInt(text), 0n);
const addCents = (cents: readonly number[]) => cents.reduce((sum, one) => sum + one, 0);

const moves = fc.array(
  fc.record({
    kind: fc.constantFrom<Kind>("gpu", "disk", "traffic", "fee", "payout", "returned", "failure", "own_credit"),
    day: fc.integer({ min: 0, max: 89 }),
    machine: fc.integer({ min: 1, max: 3 }),
    amount: fc.bigInt({ min: 1n, max: 5n * DOLLAR }),
  }),
  { minLength: 5, maxLength: 40 },
);

test("statements add up to the ledger to the nano-dollar, and each begins where the one before ended", async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (given) => {
      const paid: Move = { kind: "payout", day: 0, machine: 9, amount: 300n * DOLLAR };
      const host = await play([paid, ...given]);
      const statements = await statementsOf(host, "2026-04-01T03:00:00Z");
      assert.ok(statements.length > 0);
      let last = "0";
      for (const { content, month } of statements) {
        const { lines, movements, fee } = content;
        assert.equal(content.opening_nanos, last);
        const moved = addUp([...lines, ...movements].map((one) => one.amount_nanos)) - BigInt(fee?.amount_nanos ?? 0);
        assert.equal(BigInt(content.opening_nanos) + moved, BigInt(content.closing_nanos));
        const { rows } = await pool.query<{ sum: string }>(
          `select coalesce(sum(case when t.credit_account_id = a.id then t.amount_nanos else -t.amount_nanos end), 0) as sum
           from ledger_accounts a join ledger_transfers t on a.id in (t.credit_account_id, t.debit_account_id)
           where a.user_id = $1 and a.kind = 'earnings' and t.created_at < $2`,
          [host.id, month?.until],
        );
        assert.equal(content.closing_nanos, rows[0]?.sum);
        const shown = [...lines, ...movements].map((one) => one.amount_cents);
        const column = content.opening_cents + addCents(shown) - (fee?.total_cents ?? 0) + content.rounding_cents;
        assert.equal(column, content.closing_cents);
        assert.ok(Math.abs(content.rounding_cents) <= 1, "only fractions of a cent are carried on");
        assert.equal(addCents(lines.map((one) => one.amount_cents)), content.earned_cents);
        last = content.closing_nanos;
      }
      assert.deepEqual((await listWrongAccountDocuments(database.kysely, undefined)).wrong, []);
    }),
    { numRuns: 5 },
  );
});

test("a statement has each machine's earnings by kind, and concurrent issuing leaves no gaps in numbers", async () => {
  const host = await play([
    { kind: "gpu", day: 100, machine: 2, amount: 20n * DOLLAR },
    { kind: "gpu", day: 101, machine: 2, amount: 5n * DOLLAR },
    { kind: "disk", day: 102, machine: 2, amount: DOLLAR },
    { kind: "disk", day: 102, machine: 1, amount: 2n * DOLLAR },
    { kind: "failure", day: 103, machine: 2, amount: 3n * DOLLAR },
    { kind: "payout", day: 104, machine: 41, amount: 500n * DOLLAR },
  ]);
  now = new Date("2026-05-01T03:00:00Z");
  const means = { database, clock, seller: SELLER };
  await Promise.all([issueStatements(means), issueStatements(means)]);
  const [, statement] = await statementsOf(host, "2026-05-01T03:00:00Z");
  assert.deepEqual(
    statement?.content.lines.map((one) => [one.description, one.amount_cents]),
    [
      ["Machine 2: GPU time", 2500],
      ["Machine 2: Storage", 100],
      ["Network disks: Storage", 200],
      ["Given back to renters for failures", -300],
    ],
  );
  const { movements, closing_cents: closing, waiting } = statement.content;
  assert.deepEqual(
    movements.map((one) => [one.label, one.amount_cents]),
    [["Payout 41", -50_000]],
  );
  assert.equal(closing, 52_500);
  const parts = [waiting.payable_nanos, waiting.granted_nanos, waiting.young_nanos, waiting.held_nanos];
  assert.equal(addUp(parts), 525n * DOLLAR, "what waits is all that is there");
  const { rows } = await pool.query<{ sequence: number }>("select sequence from account_documents order by sequence");
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    rows.map((_row, index) => index + 1),
  );
});

test("the platform fee has the tax of the host's country; reverse charge and self-billing are stated", async () => {
  const fee: Move = { kind: "fee", day: 120, machine: 7, amount: 120n * DOLLAR };
  const [person, business] = [await play([fee]), await play([fee])];
  await pool.query("update users set billaddress_country = 'FR' where id = any($1)", [[person.id, business.id]]);
  await pool.query("update users set taxinfo = 'FR12345678901' where id = $1", [business.id]);
  const french = { ppm: 200_000, name: "TVA", note: "Paid in France.", isReverseCharged: true };
  const seller = { ...SELLER, taxTable: new Map([["FR", french]]), isSelfBilling: true };
  const [paying, free] = [
    (await statementsOf(person, "2026-06-01T03:00:00Z", seller)).at(-1),
    (await statementsOf(business, "2026-06-01T03:00:00Z", seller)).at(-1),
  ];
  assert.deepEqual(
    [paying?.content.fee?.net_cents, paying?.content.fee?.tax.amount_cents, paying?.content.fee?.tax.percent],
    [10_000, 2_000, "20"],
  );
  assert.equal(paying?.content.self_billing, null, "who is no business supplies nothing that has an invoice");
  assert.deepEqual([free?.content.fee?.net_cents, free?.content.fee?.tax.amount_cents], [12_000, 0]);
  assert.equal(free?.content.self_billing?.total_cents, free?.content.earned_cents);
  const url = `/api/v0/billing/documents/${free?.number}`;
  const page = await call("GET", `${url}/page/`, { as: business });
  const pdf = await call("GET", `${url}/pdf/`, { as: business });
  for (const text of [page.text, (await readPdf(pdf.bytes)).join("\n")]) {
    assert.ok(text.includes("TVA (reverse charge)") && text.includes("Self-billing (Gutschrift)"), text);
    assert.ok(text.includes("the recipient of the service is liable") && text.includes("FR12345678901"), text);
  }
  const shown = await call("GET", `${url}/`, { as: business });
  const statement = shown.body["statement"] as Readonly<Record<string, unknown>>;
  assert.deepEqual([statement["closing"], statement["closing_exact"]], [880, "880"]);
  assert.equal((await call("GET", `${url}/`, { as: person })).status, 404);
});

test("the audit names a statement that was changed", async () => {
  const host = await play([]);
  const [statement] = await statementsOf(host, "2026-02-01T03:00:00Z");
  await pool.query("alter table account_documents disable trigger user");
  await pool.query(
    "update account_documents set content = jsonb_set(content, '{closing_nanos}', '\"1\"') where number = $1",
    [statement?.number],
  );
  const { wrong } = await listWrongAccountDocuments(database.kysely, undefined);
  assert.deepEqual(
    wrong.map(({ subject, problem }) => `${subject}: ${problem}`),
    [`statement ${statement?.number}: its closing is not that of its month`],
  );
});
