// The rows of charges, movements of money, and monthly invoices.
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { insertDocument, takeSequence } from "../../server/src/domains/billing/document-store.ts";
import { makeContent, numberOf } from "../../server/src/domains/billing/document.ts";
import { UNNAMED_SELLER } from "../../server/src/domains/billing/index.ts";
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
  const facts = { user: undefined, names: new Map(), sums: [], movements: [], closingNanos: 0n };
  const content = makeContent({ ...facts, seller: UNNAMED_SELLER, userId: user.id });
  return withTransaction(world.database, systemClock, async (tx) => {
    const sequence = await takeSequence(tx, "TEST-", 2000);
    const number = numberOf("TEST-", 2000, sequence);
    const document = { number, userId: asId<UserId>(user.id), from, until, issuedAt: tx.now, content };
    await insertDocument(tx, { prefix: "TEST-", year: 2000, sequence, document });
    return number;
  });
}

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
  "GET /api/v0/charges/": plain("billing_read", `/api/v0/charges/?select_filters=${DAYS}`),
  "GET /api/v0/charges/export/": plain("billing_read", "/api/v0/charges/export/"),
  "GET /api/v0/invoices/": plain("billing_read", "/api/v0/invoices/"),
  "GET /api/v0/invoices/export/": plain("billing_read", "/api/v0/invoices/export/"),
  "GET /api/v1/invoices/": plain("billing_read", "/api/v1/invoices/"),
  "GET /api/v0/invoice_documents/": plain("billing_read", "/api/v0/invoice_documents/"),
  "GET /api/v0/invoice_documents/{number}/": onDocument(""),
  "GET /api/v0/invoice_documents/{number}/page/": onDocument("page/"),
  "GET /api/v0/invoice_documents/{number}/pdf/": onDocument("pdf/"),
  // Of the ids in its body those that are the caller's are answered: others are as absent as those of nobody.
  "POST /api/v0/contracts/fetch/": plain("billing_read", "/api/v0/contracts/fetch/", { contract_ids: [1] }),
} satisfies Readonly<Record<string, Row>>;
