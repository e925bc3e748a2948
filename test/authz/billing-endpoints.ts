// The rows of charges, movements of money, monthly invoices, and receipts.
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { issueDocument } from "../../server/src/domains/money/invoices/account-documents/account-document-store.ts";
import type { ReceiptContent } from "../../server/src/domains/money/invoices/account-documents/rules/receipt.ts";
import { insertDocument, takeSequence } from "../../server/src/domains/money/invoices/documents/document-store.ts";
import { makeContent, numberOf } from "../../server/src/domains/money/invoices/documents/rules/document.ts";
import { UNNAMED_SELLER } from "../../server/src/domains/money/invoices/index.ts";
import { systemClock } from "../../server/src/base/clock.ts";
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

let monthCount = 0;

/** The number of an invoice of the user, of a month of its own. */
async function aDocument(world: World, user: TestCaller): Promise<string> {
  monthCount += 1;
  const from = new Date(Date.UTC(2000, monthCount, 1));
  const until = new Date(Date.UTC(2000, monthCount + 1, 1));
  const nothing = { sums: [], earlyEnds: [], movements: [], closingNanos: 0n };
  const names = { names: new Map(), volumeNames: new Map(), gpuModels: new Map() };
  const facts = { ...nothing, ...names, user: undefined, seller: UNNAMED_SELLER, userId: user.id };
  const content = makeContent(facts, 2);
  return withTransaction(world.database, systemClock, async (tx) => {
    const sequence = await takeSequence(tx, "TEST-", 2000);
    const number = numberOf("TEST-", 2000, sequence);
    const document = { number, userId: asId<UserId>(user.id), from, until, issuedAt: tx.now, content };
    await insertDocument(tx, { prefix: "TEST-", year: 2000, sequence, document });
    return number;
  });
}

let transferCount = 0n;

/** The number of a receipt of the user, for a transfer that there is not. */
async function aReceipt(world: World, user: TestCaller): Promise<string> {
  transferCount += 1n;
  const transferId = 9_000_000_000n + transferCount;
  const content: ReceiptContent = {
    seller: { name: "Berth", address: [], tax_id: "" },
    buyer: { user_id: user.id, name: "Ada", email: user.email, address: [], tax_id: "" },
    currency: "USD",
    event: "payment",
    total_cents: 500,
    amount_nanos: "5000000000",
    paid_at_ms: 0,
    method: "Card",
    payment_id: null,
    transfer_id: String(transferId),
  };
  const receipt = { kind: "receipt", userId: asId<UserId>(user.id), month: undefined, refersTo: undefined } as const;
  return withTransaction(world.database, systemClock, (tx) =>
    issueDocument(tx, "TEST-", { ...receipt, transferId, content }),
  );
}

const onReceipt = (form: string): Row =>
  onObject(
    "billing_read",
    "number",
    aReceipt,
    (number) => at(`/api/v0/billing/documents/${number}/${form}`),
    "TEST-2000-R999999",
  );

const onDocument = (form: string): Row =>
  onObject(
    "billing_read",
    "number",
    aDocument,
    (number) => at(`/api/v0/invoice_documents/${number}/${form}`),
    "TEST-2000-999999",
  );

const DAYS = encodeURIComponent(JSON.stringify({ day: { gte: 1_767_225_600, lte: 1_767_312_000 } }));

export const billingEndpoints = {
  "GET /api/v0/billing/documents/": plain("billing_read", "/api/v0/billing/documents/"),
  "GET /api/v0/billing/documents/{number}/": onReceipt(""),
  "GET /api/v0/billing/documents/{number}/page/": onReceipt("page/"),
  "GET /api/v0/billing/documents/{number}/pdf/": onReceipt("pdf/"),
  "GET /api/v0/charges/": plain("billing_read", `/api/v0/charges/?select_filters=${DAYS}`),
  "GET /api/v0/charges/split/": plain("billing_read", "/api/v0/charges/split/?by=label"),
  "GET /api/v0/charges/forecast/": plain("billing_read", "/api/v0/charges/forecast/"),
  "GET /api/v0/charges/chart/": plain("billing_read", `/api/v0/charges/chart/?select_filters=${DAYS}`),
  "GET /api/v0/admin/documents/": plain("admin", "/api/v0/admin/documents/?month=2026-03"),
  "GET /api/v0/admin/documents/export/": plain("admin", "/api/v0/admin/documents/export/?month=2026-03"),
  "GET /api/v0/charges/export/": plain("billing_read", "/api/v0/charges/export/"),
  "GET /api/v0/invoices/": plain("billing_read", "/api/v0/invoices/"),
  "GET /api/v0/invoices/export/": plain("billing_read", "/api/v0/invoices/export/"),
  "GET /api/v1/invoices/": plain("billing_read", "/api/v1/invoices/"),
  "GET /api/v0/invoice_documents/": plain("billing_read", "/api/v0/invoice_documents/"),
  "GET /api/v0/invoice_documents/{number}/": onDocument(""),
  "GET /api/v0/invoice_documents/{number}/page/": onDocument("page/"),
  "GET /api/v0/invoice_documents/{number}/pdf/": onDocument("pdf/"),
  // The answer has the caller's contracts among the ids in the body: those of others are as absent as ids that never were.
  "POST /api/v0/contracts/fetch/": plain("billing_read", "/api/v0/contracts/fetch/", { contract_ids: [1] }),
} satisfies Readonly<Record<string, Row>>;
