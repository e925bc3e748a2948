import assert from "node:assert/strict";
import { test } from "node:test";
import { auditWorld, HOUR_MS } from "../../../../../test/support/money/audit-world.ts";
import { aCorrection, aPayment, someDocuments } from "../../../../../test/support/money/tampering.ts";
import {
  bySql,
  differencesIn,
  testTamperings,
  type Tampering,
} from "../../../../../test/support/money/tampering-tests.ts";
import { issueCreditNotes } from "../invoices/account-documents/credit-note-service.ts";
import { UNNAMED_SELLER } from "../invoices/index.ts";

/**
 * Deletes the documents of a kind with their numbers, and sets their clock back, as if they were still to be issued.
 */
const withoutTrace =
  (kind: "receipt" | "statement" | "credit_note"): Tampering["tamper"] =>
  async ({ plant, sql }) => {
    await plant("account_documents", "delete from account_documents where kind = $1", [kind]);
    await sql("delete from account_document_sequences where kind = $1", [kind]);
    await sql("update account_document_clocks set done_until_at = '2000-01-01' where kind = $1", [kind]);
  };

/** Sets the clock of a kind past movements without a document, so that it is never issued. */
const passedOver =
  (kind: "receipt" | "statement" | "credit_note"): Tampering["tamper"] =>
  ({ sql }) =>
    sql("update account_document_clocks set done_until_at = '2026-05-01T00:00:00Z' where kind = $1", [kind]);

const TAMPERINGS: readonly Tampering[] = [
  {
    what: "the last invoice deleted, and its sequence and its clock set back",
    before: someDocuments,
    tamper: async ({ plant, sql }) => {
      await plant("invoice_documents", "delete from invoice_documents");
      await sql("delete from invoice_sequences");
      await sql("update invoice_document_clock set next_from_at = null");
    },
    named: /^facts: invoice 2026-000001: it is gone: it was made by .* \| none \| the invoice of user \d+/,
  },
  {
    what: "the last receipt deleted, and its sequence and its clock set back",
    before: someDocuments,
    tamper: withoutTrace("receipt"),
    named: /^facts: receipt 2026-R000001: it is gone: it was made by .* \| none \| the receipt of user \d+/,
  },
  {
    what: "the last statement of a host deleted, and its sequence and its clock set back",
    before: someDocuments,
    tamper: withoutTrace("statement"),
    named: /^facts: statement 2026-S000001: it is gone: it was made by .* \| none \| the statement of user \d+/,
  },
  {
    what: "the last credit note deleted, and its sequence and its clock set back",
    before: someDocuments,
    tamper: withoutTrace("credit_note"),
    named: /^facts: credit note 2026-C000001: it is gone: it was made by .* \| none \| the credit note of user \d+/,
  },
  {
    what: "a receipt made out to another company",
    before: someDocuments,
    tamper: bySql(
      "account_documents",
      `update account_documents set content = jsonb_set(content, '{buyer,name}', '"Letterbox Ltd"')
       where kind = 'receipt'`,
    ),
    named: /^facts: receipt 2026-R000001: it is not what was done by /,
  },
  {
    what: "a statement with another amount for a machine",
    before: someDocuments,
    tamper: bySql(
      "account_documents",
      `update account_documents set content = jsonb_set(content, '{lines,0,description}', '"Consulting"')
       where kind = 'statement'`,
    ),
    named: /^facts: statement 2026-S000001: it is not what was done by /,
  },
  {
    what: "a credit note that was moved to another invoice",
    before: someDocuments,
    tamper: bySql(
      "account_documents",
      "update account_documents set refers_to = '2026-000009' where kind = 'credit_note'",
    ),
    named: /^facts: credit note 2026-C000001: it is not what was done by /,
  },
  {
    what: "a payment that was passed over by the receipts",
    before: aPayment,
    tamper: passedOver("receipt"),
    named: /^invoices: transfer \d+: it has no receipt \| none \| one of user \d+ for credit_granted of \$5$/,
  },
  {
    what: "a host who was passed over by the statements",
    tamper: passedOver("statement"),
    named: /^invoices: statement of user \d+ for 2026-03: it is missing \| none \| one: the earnings moved$/,
  },
  {
    what: "a correction of an invoice that was passed over by the credit notes",
    before: async (world) => {
      await someDocuments(world);
      world.clock.jump(HOUR_MS);
      await aCorrection(world, "2026-000001/2");
    },
    tamper: passedOver("credit_note"),
    named: /^invoices: transfer \d+: it has no credit note \| none \| one of user \d+ for correction of \$2$/,
  },
  {
    what: "a renter who was passed over by the invoices",
    tamper: ({ sql }) => sql("update invoice_document_clock set next_from_at = '2026-04-01T00:00:00Z'"),
    named: /^invoices: invoice of user \d+ for 2026-03: it is missing \| none \| one: there was usage or a movement$/,
  },
];

testTamperings(TAMPERINGS);

test("issued documents cause no difference, nor does a correction that names an invoice before it is issued", async (t) => {
  const world = await auditWorld(t);
  await aCorrection(world, "2026-000001");
  world.clock.jump(2 * HOUR_MS);
  await issueCreditNotes({ database: world.env.database, clock: world.clock, seller: UNNAMED_SELLER });
  await someDocuments(world);
  assert.equal((await world.sql("select from account_documents where kind = 'credit_note'")).length, 1);
  assert.deepEqual(await differencesIn(world), []);
});
