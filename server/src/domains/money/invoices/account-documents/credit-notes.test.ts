import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
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
  LOSSES,
  postTransfers,
  type TransferRequest,
} from "../../ledger/index.ts";
import { issueInvoices } from "../documents/document-service.ts";
import { invoiceRoutes, listWrongAccountDocuments, UNNAMED_SELLER, type Seller } from "../index.ts";
import { issueCreditNotes } from "./credit-note-service.ts";
import { issueReceipts } from "./receipt-service.ts";
import { issueStatements } from "./statement-service.ts";

const { database, pool } = await testDatabase();
let now = new Date("2026-01-01T00:00:00Z");
const clock: Clock = { ...systemClock, now: () => now };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const CENT = DOLLAR / 100n;
const SELLER: Seller = {
  ...UNNAMED_SELLER,
  name: "Nord GmbH",
  country: "DE",
  taxPpm: 190_000,
  taxNote: "Prices include 19 % VAT.",
};

async function post(at: string, requests: readonly TransferRequest[]): Promise<void> {
  now = new Date(at);
  const outcomes = await withTransaction(database, clock, (tx) => postTransfers(tx, requests));
  assert.ok(outcomes.every(({ kind }) => kind === "posted"));
}

type Between = { readonly renter: TestCaller; readonly host: TestCaller };

/** A renter with $500, and a host with a run of instance 71 that cost $119. */
async function aRun(at: string): Promise<Between> {
  const [renter, host] = [await aCaller(database), await aCaller(database)];
  await post(at, [grantOf(renter.id, 500n * DOLLAR)]);
  await postCharges(database, at, { payer: renter.id, host: host.id }, [
    { amount: 119n * DOLLAR, instance: 71 },
    { amount: DOLLAR, component: "disk", instance: 71 },
  ]);
  return { renter, host };
}

const failure = ({ renter, host }: Between, amount: bigint): TransferRequest =>
  transferOf({
    debit: earningsOf(host.id),
    credit: creditOf(renter.id),
    amount,
    code: "host_credit",
    cause: { instance_id: 71, generation: 1, reason: "host_lost" },
  });

type Answer = Readonly<Record<string, unknown>>;

async function issueBy(at: string, seller = SELLER): Promise<number> {
  now = new Date(at);
  await issueInvoices({ database, clock, seller });
  return issueCreditNotes({ database, clock, seller });
}

async function listed(as: TestCaller, kind: string): Promise<readonly Answer[]> {
  const { body } = await call("GET", `/api/v0/billing/documents/?kind=${kind}`, { as });
  return body["results"] as readonly Answer[];
}

async function shown(as: TestCaller, number: unknown): Promise<Answer> {
  const { status, body, text } = await call("GET", `/api/v0/billing/documents/${String(number)}/`, { as });
  assert.equal(status, 200, text);
  return body;
}

test("a credit for usage has a credit note with the invoice, its line and its tax", async () => {
  const run = await aRun("2026-01-20T12:00:00Z");
  await post("2026-01-21T12:00:00Z", [failure(run, 1_190n * CENT), failure(run, CENT / 10n)]);
  assert.equal(await issueBy("2026-01-25T12:00:00Z"), 0, "there is no invoice to refer to yet");
  const issued = await Promise.all([issueBy("2026-02-03T12:00:00Z"), issueBy("2026-02-03T12:00:00Z")]);
  assert.equal(issued[0] + issued[1] + (await issueBy("2026-02-03T13:00:00Z")), 1, "less than half a cent has none");
  const [invoice] = await listed(run.renter, "invoice");
  const [head] = await listed(run.renter, "credit_note");
  assert.deepEqual(
    [head?.["number"], head?.["refers_to"], head?.["total"]],
    ["2026-C000001", invoice?.["number"], -11.9],
  );
  const { credit_note: note } = await shown(run.renter, head?.["number"]);
  const { net, tax, invoice_line: line, description, reason } = note as Answer;
  assert.deepEqual([net, (tax as Answer)["amount"], (tax as Answer)["percent"], line], [-10, -1.9, "19", 1]);
  assert.match(String(description), /Instance 71.*GPU time/);
  assert.match(String(reason), /lost/);
  const { referred_by: later, invoice: whole } = await shown(run.renter, invoice?.["number"]);
  assert.deepEqual((later as readonly Answer[])[0]?.["number"], "2026-C000001");
  assert.equal((whole as Answer)["total"], 120, "the invoice stays as it was issued");
  assert.deepEqual((await listWrongAccountDocuments(database.kysely, undefined)).wrong, []);
});

test("a credit after the month's invoice has its credit note at once", async () => {
  const run = await aRun("2026-02-20T12:00:00Z");
  await issueBy("2026-03-03T12:00:00Z");
  await post("2026-03-05T12:00:00Z", [failure(run, 238n * CENT)]);
  assert.equal(await issueBy("2026-03-05T12:01:00Z"), 1);
  const [[invoice], [head]] = [await listed(run.renter, "invoice"), await listed(run.renter, "credit_note")];
  assert.deepEqual([head?.["refers_to"], head?.["total"]], [invoice?.["number"], -2.38]);
});

test("a credit note of an invoice with reverse charge has no tax, as its page and PDF state", async () => {
  const run = await aRun("2026-03-20T12:00:00Z");
  await pool.query("update users set billaddress_country = 'FR', taxinfo = 'FR12345678901' where id = $1", [
    run.renter.id,
  ]);
  const french = { ppm: 200_000, name: "TVA", note: "", isReverseCharged: true };
  await issueBy("2026-04-03T12:00:00Z", { ...SELLER, taxTable: new Map([["FR", french]]) });
  await pool.query("update users set billaddress_country = 'DE', fullname = 'Else' where id = $1", [run.renter.id]);
  await post("2026-04-05T12:00:00Z", [failure(run, 5n * DOLLAR)]);
  assert.equal(await issueBy("2026-04-05T12:01:00Z"), 1);
  const [head] = await listed(run.renter, "credit_note");
  const url = `/api/v0/billing/documents/${String(head?.["number"])}`;
  const page = await call("GET", `${url}/page/`, { as: run.renter });
  const pdf = await call("GET", `${url}/pdf/`, { as: run.renter });
  for (const text of [page.text, (await readPdf(pdf.bytes)).join("\n")]) {
    assert.ok(text.includes("TVA (reverse charge)") && text.includes("the recipient of the service is liable"), text);
    assert.ok(text.includes(`Corrects invoice ${String(head?.["refers_to"])}`) && text.includes("-5.00"), text);
    assert.ok(text.includes("FR12345678901") && !text.includes("Else"), "its parties are those of the invoice");
  }
});

test("a correction that names an invoice and its line has a credit note for them, and any other correction has none", async () => {
  const run = await aRun("2026-04-20T12:00:00Z");
  await issueBy("2026-05-03T12:00:00Z");
  const [invoice] = await listed(run.renter, "invoice");
  const corrections = [`${String(invoice?.["number"])}/2`, String(invoice?.["number"]), "ticket 7", "2026-999999"];
  await post(
    "2026-05-05T12:00:00Z",
    corrections.map((reference) => ({
      ...transferOf({ debit: LOSSES, credit: creditOf(run.renter.id), amount: DOLLAR, code: "correction" }),
      cause: { actor_id: run.host.id, reason: "The disk was too small.", reference },
    })),
  );
  assert.equal(await issueBy("2026-05-05T12:01:00Z"), 2);
  const heads = await listed(run.renter, "credit_note");
  const notes = await Promise.all(heads.map(async ({ number }) => (await shown(run.renter, number))["credit_note"]));
  assert.deepEqual(
    new Set(notes.map((note) => [(note as Answer)["invoice_line"], (note as Answer)["description"]].join(" "))),
    new Set(["2 Instance 71: Storage", ` Invoice ${String(invoice?.["number"])}`]),
  );
  assert.deepEqual((await listWrongAccountDocuments(database.kysely, undefined)).wrong, []);
});

test("an administrator gets the documents of all accounts of a month, as data and as a table, and each of them once", async () => {
  const run = await aRun("2026-06-20T12:00:00Z");
  const wire = grantOf(run.renter.id, 50n * DOLLAR);
  await post("2026-06-21T12:00:00Z", [
    failure(run, 1_190n * CENT),
    { ...wire, cause: { ...wire.cause, paid_by: "=Wire 17" } },
  ]);
  await issueBy("2026-07-03T12:00:00Z");
  await issueReceipts({ database, clock, seller: SELLER });
  await issueStatements({ database, clock, seller: SELLER });
  const admin = await aCaller(database, { isAdmin: true });
  const all: Answer[] = [];
  for (let token: unknown = ""; token !== null;) {
    const query = `month=2026-07&limit=3&after_token=${String(token)}`;
    const { body, text } = await call("GET", `/api/v0/admin/documents/?${query}`, { as: admin });
    assert.equal(body["success"], true, text);
    all.push(...(body["results"] as readonly Answer[]));
    token = body["next_token"];
  }
  const numbers = all.map(({ number }) => String(number));
  assert.equal(new Set(numbers).size, numbers.length);
  const { rows } = await pool.query(
    `select number from account_documents where issued_at >= '2026-07-01' union all
     select number from invoice_documents where issued_at >= '2026-07-01'`,
  );
  assert.deepEqual(new Set(rows.map((row) => row.number)), new Set(numbers));
  const of = (user: TestCaller, kind: string) => all.find((one) => one["user_id"] === user.id && one["kind"] === kind);
  const taxOf = (one: Answer | undefined) => {
    const taxed = one?.["taxed"] as Answer | null | undefined;
    return [one?.["total"], taxed?.["net"], taxed?.["tax"], taxed?.["percent"]];
  };
  assert.deepEqual(taxOf(of(run.renter, "invoice")), [120, 100.84, 19.16, "19"]);
  assert.deepEqual(taxOf(of(run.renter, "credit_note")), [-11.9, -10, -1.9, "19"]);
  assert.equal(of(run.renter, "credit_note")?.["refers_to"], of(run.renter, "invoice")?.["number"]);
  const receipt = of(run.renter, "receipt");
  assert.deepEqual([receipt?.["total"], receipt?.["method"], receipt?.["taxed"]], [50, "=Wire 17", null]);
  assert.deepEqual([of(run.host, "statement")?.["earned"], of(run.host, "statement")?.["taxed"]], [108.1, null]);

  const table = await call("GET", "/api/v0/admin/documents/export/?month=2026-07", { as: admin });
  assert.match(String(table.headers["content-type"]), /text\/csv/);
  const lines = table.text.trimEnd().split("\r\n").slice(1);
  assert.deepEqual(
    lines.map((line) => line.split(",")[0]),
    numbers,
  );
  const noted = lines.find((line) => line.startsWith(String(of(run.renter, "credit_note")?.["number"])));
  assert.ok(noted?.includes(",USD,-11.90,,,-10.00,-1.90,-11.90,19,"), noted);
  assert.ok(table.text.includes("'=Wire 17"), "a spreadsheet runs nothing");
  const only = await call("GET", "/api/v0/admin/documents/export/?month=2026-07&kind=receipt", { as: admin });
  assert.ok(
    only.text
      .split("\r\n")
      .slice(1, -1)
      .every((line) => line.includes(",receipt,")),
  );
  for (const wrong of ["month=July", "month=2026-13", "month=2026-07&kind=letter"]) {
    const { status, body } = await call("GET", `/api/v0/admin/documents/export/?${wrong}`, { as: admin });
    assert.deepEqual([status, body["field"]], [400, wrong.includes("letter") ? "kind" : "month"]);
  }
});

test("the audit names a credit note that was changed", async () => {
  await pool.query("alter table account_documents disable trigger user");
  await pool.query(
    "update account_documents set content = jsonb_set(content, '{total_cents}', '-9900') where number = '2026-C000001'",
  );
  const { wrong } = await listWrongAccountDocuments(database.kysely, undefined);
  assert.deepEqual(
    wrong.map(({ subject, problem }) => `${subject}: ${problem}`),
    ["credit note 2026-C000001: it is not what its transfer says"],
  );
});
