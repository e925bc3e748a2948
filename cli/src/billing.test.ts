import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const at = (text: string) => Date.parse(text) / 1000;

const component = {
  metadata: {},
  items: [],
  source: null,
  start: at("2026-03-01T00:00:00Z"),
  end: at("2026-03-01T01:00:00Z"),
};
const charge = {
  start: at("2026-03-01T00:00:00Z"),
  end: at("2026-03-01T01:00:00Z"),
  type: "instance",
  source: "instance-5",
  description: "Instance 5, 2026-03-01",
  amount: 0.5,
  amount_exact: "0.5",
  metadata: {},
  items: [{ ...component, type: "gpu", description: "GPU: 1 h at $0.5 per h", amount: 0.5, amount_exact: "0.5" }],
};
const page = (results: readonly object[], rest: object = {}) => ({
  success: true,
  count: results.length,
  total: results.length,
  total_amount: "0.5",
  next_token: null,
  results,
  ...rest,
});

test("charges are a table of contracts and their components, of all pages, with their total", async (t) => {
  let pages = 0;
  const { berth, received } = await answer(t, {
    "GET /api/v0/charges/": () => ({ body: page([charge], (pages += 1) < 2 ? { next_token: "more" } : {}) }),
  });
  const { code, stdout } = await berth("billing", "charges", "--from", "2026-03-01", "--to", "2026-03-02");
  assert.equal(code, 0);
  assert.match(stdout, /^FROM +WHAT +TYPE +AMOUNT\n2026-03-01 00:00 {2}Instance 5, 2026-03-01 +instance {2}\$0\.500\n/);
  assert.match(stdout, /\n2026-03-01 00:00 {4}GPU: 1 h at \$0\.5 per h +gpu +\$0\.500\n/);
  assert.match(stdout, /\n\nTotal: \$0\.5\n$/);
  assert.equal(received.length, 2);
  const [first = "", second = ""] = received.map(([request]) => request);
  const filters = new URL(first.slice(4), "http://localhost").searchParams.get("select_filters");
  assert.deepEqual(JSON.parse(filters ?? ""), {
    day: { gte: at("2026-03-01T00:00:00Z"), lte: at("2026-03-02T00:00:00Z") },
  });
  assert.match(second, /after_token=more/);
});

const invoice = {
  success: true,
  number: "2026-000042",
  issued_at: at("2026-04-01T02:00:00Z"),
  period_start: at("2026-03-01T00:00:00Z"),
  period_end: at("2026-04-01T00:00:00Z"),
  currency: "USD",
  total: 12.3,
  seller: { name: "Nord", address: ["1 Mill Lane"], tax_id: "" },
  buyer: { name: "Ada", address: [], tax_id: "", user_id: 3, email: "ada@example.com" },
  lines: [
    {
      source: "instance-5",
      type: "gpu",
      description: "Instance 5: GPU",
      start: at("2026-03-01T10:00:00Z"),
      end: at("2026-03-20T12:30:00Z"),
      quantity: 24.6,
      unit: "h",
      rate: "0.5",
      is_rate_average: false,
      amount: 12.1,
      unpaid: "0",
    },
    {
      source: "instance-5",
      type: "fee",
      description: "Instance 5: Fee for an early end",
      start: at("2026-03-20T12:30:00Z"),
      end: at("2026-03-20T12:30:00Z"),
      quantity: 1,
      unit: "",
      rate: "0.2",
      is_rate_average: false,
      amount: 0.2,
      unpaid: "0",
    },
  ],
  net: 12.3,
  tax: {
    percent: "0",
    amount: 0,
    note: "No tax is charged.",
    name: "VAT",
    country: "FR",
    is_reverse_charge: true,
  },
  balance: { opening: 20, entries: [], usage: 12.3, rounding: 0, closing: 7.7 },
};

test("an invoice shows its lines and how the balance went", async (t) => {
  const { berth } = await answer(t, { "GET /api/v0/invoice_documents/2026-000042/": { body: invoice } });
  const { code, stdout } = await berth("billing", "invoice", "2026-000042");
  assert.equal(code, 0);
  assert.match(stdout, /Instance 5: GPU +2026-03-01 10:00 {2}2026-03-20 12:30 +24\.6 h +\$0\.5 +\$12\.10\n/);
  assert.match(stdout, /VAT \(reverse charge\) +\$0\.00\n/);
  assert.match(stdout, /Fee for an early end +2026-03-20 12:30 {2}2026-03-20 12:30 +- +- +\$0\.20\n/);
  assert.match(stdout, /Opening balance +\$20\.00\nUsage of this invoice {2}-\$12\.30\nClosing balance +\$7\.70\n/);
  assert.deepEqual(JSON.parse((await berth("billing", "invoice", "2026-000042", "--json")).stdout), invoice);
});

test("an invoice is written as the PDF that the server made; a refusal writes nothing and says why", async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), "berth-invoice-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "invoice.pdf");
  const { berth } = await answer(t, { "GET /api/v0/invoice_documents/2026-000042/pdf/": { body: "bytes" } });
  const { code, stdout } = await berth("billing", "invoice", "2026-000042", "--pdf", file);
  assert.equal(code, 0);
  assert.equal(stdout, `Invoice 2026-000042 is in ${file}.\n`);
  assert.equal(readFileSync(file, "utf8"), '"bytes"');
  const refused = await berth("billing", "invoice", "2026-000043", "--pdf", path.join(directory, "other.pdf"));
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /There is nothing\./);
});

const receipt = {
  success: true,
  number: "2026-R000007",
  kind: "receipt",
  issued_at: at("2026-03-01T02:00:00Z"),
  period_start: null,
  period_end: null,
  refers_to: null,
  total: 25,
  currency: "USD",
  seller: { name: "Nord", address: ["1 Mill Lane"], tax_id: "DE1" },
  buyer: { name: "Ada", address: [], tax_id: "", user_id: 3, email: "ada@example.com" },
  referred_by: [{ number: "2026-R000009", kind: "receipt", refers_to: "2026-R000007", total: -5 }],
  receipt: { event: "payment", amount: 25, amount_exact: "25", paid_at: 0, method: "Card", payment_id: 4 },
  invoice: null,
  shown: {
    title: "Receipt",
    subtitle: "",
    facts: [{ name: "Number", value: "2026-R000007" }],
    tables: [
      {
        caption: "Payment in USD",
        columns: ["What", "Paid by", "Amount"],
        rows: [{ cells: ["Payment received", "Card", "25.00"], note: "2026-03-01 01:59 UTC" }],
        totals: [{ label: "Paid in USD", amount: "25.00" }],
      },
    ],
    notes: ["This receipt is no invoice."],
  },
};

test("documents of every kind are in one list, and each is shown with what refers to it", async (t) => {
  const { berth, received } = await answer(t, {
    "GET /api/v0/billing/documents/": { body: page([receipt]) },
    "GET /api/v0/billing/documents/2026-R000007/": { body: receipt },
  });
  const list = await berth("billing", "documents", "--kind", "receipt");
  assert.match(list.stdout, /2026-R000007 {2}receipt {2}2026-03-01 +- +\$25\.00/);
  assert.match(received[0]?.[0] ?? "", /kind=receipt/);
  const { stdout } = await berth("billing", "document", "2026-R000007");
  assert.match(
    stdout,
    /Payment in USD\nWHAT +PAID BY +AMOUNT\nPayment received \(2026-03-01 01:59 UTC\) {2}Card +25\.00\n/,
  );
  assert.match(stdout, /Paid in USD +- +25\.00\n/);
  assert.match(stdout, /Corrected by receipt 2026-R000009\.\n$/);
});

test("a document is written as the file that the server made", async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), "berth-document-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "receipt.html");
  const { berth } = await answer(t, { "GET /api/v0/billing/documents/2026-R000007/page/": { body: "page" } });
  const { stdout } = await berth("billing", "document", "2026-R000007", "--page", file);
  assert.equal(stdout, `Document 2026-R000007 is in ${file}.\n`);
  assert.equal(readFileSync(file, "utf8"), '"page"');
});

test("billing details are changed as given, and shown as they are", async (t) => {
  const user = {
    fullname: "Nord GmbH",
    billaddress_line1: "1 Mill Lane",
    billaddress_line2: "",
    billaddress_zip: "20095",
    billaddress_city: "Hamburg",
    billaddress_country: "DE",
    taxinfo: "DE123",
  };
  const { berth, received } = await answer(t, {
    "PUT /api/v0/users/": { body: { success: true, msg: "" } },
    "GET /api/v0/users/current/": { body: user },
  });
  const { stdout } = await berth("billing", "details", "--name", "Nord GmbH", "--country", "de", "--tax-id", "DE123");
  assert.match(stdout, /Name +Nord GmbH\nAddress +1 Mill Lane\nTown +20095 Hamburg\nCountry +DE\nTax id +DE123\n/);
  assert.deepEqual(received[0]?.[1], { fullname: "Nord GmbH", billaddress_country: "DE", taxinfo: "DE123" });
  await berth("billing", "details");
  assert.equal(received.length, 3, "without options nothing is changed");
  const refused = await berth("billing", "details", "--country", "Germany");
  assert.match(refused.stderr, /two letters/);
});

test("movements are signed as their owner sees them", async (t) => {
  const row = (amount: number, direction: string) => ({
    start: at("2026-03-01T00:00:00Z"),
    end: null,
    type: "transfer",
    source: "account-4",
    description: "Credit",
    amount,
    metadata: { invoice_id: 7, service: "transfer", direction },
    items: [],
  });
  const { berth } = await answer(t, { "GET /api/v1/invoices/": { body: page([row(5, "out"), row(-6, "in")]) } });
  const { stdout } = await berth("billing", "movements");
  assert.match(stdout, /-\$5\.00\n.* \$6\.00\n$/s);
});

test("lists that are empty say so, and invoices have their months", async (t) => {
  const { berth } = await answer(t, { "GET /api/v0/invoice_documents/": { body: page([]) } });
  assert.match((await berth("billing", "invoices")).stdout, /when a month is over/);
  const summary = { ...invoice, lines: undefined };
  const other = await answer(t, { "GET /api/v0/invoice_documents/": { body: page([summary]) } });
  assert.match((await other.berth("billing", "invoices")).stdout, /2026-000042 {2}2026-03 {2}2026-04-01 {2}\$12\.30/);
});
