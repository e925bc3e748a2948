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
      start: 1,
      end: 2,
      quantity: 24.6,
      unit: "h",
      rate: "0.5",
      is_rate_average: false,
      amount: 12.3,
      unpaid: "0",
    },
  ],
  net: 12.3,
  tax: { percent: "0", amount: 0, note: "No tax is charged." },
  balance: { opening: 20, entries: [], usage: 12.3, rounding: 0, closing: 7.7 },
};

test("an invoice shows its lines and how the balance went", async (t) => {
  const { berth } = await answer(t, { "GET /api/v0/invoice_documents/2026-000042/": { body: invoice } });
  const { code, stdout } = await berth("billing", "invoice", "2026-000042");
  assert.equal(code, 0);
  assert.match(stdout, /Instance 5: GPU {2}24\.6 h +\$0\.5 +\$12\.30\n/);
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
