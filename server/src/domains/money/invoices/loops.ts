import type { Loop } from "../../../base/loop-driver.ts";
import { issueCreditNotes } from "./account-documents/credit-note-service.ts";
import { issueStatements } from "./account-documents/statement-service.ts";
import { issueReceipts } from "./account-documents/receipt-service.ts";
import { issueInvoices, type IssueMeans } from "./documents/document-service.ts";

export function invoiceLoops(means: IssueMeans): readonly Loop[] {
  return [
    {
      name: "issue-invoices",
      description: "Issues the invoices of months that are over.",
      everyMs: 300_000,
      run: async () => ({ issued: await issueInvoices(means) }),
    },
    {
      name: "issue-receipts",
      description: "Issues a receipt for each amount that was paid in, and for each that went back.",
      everyMs: 60_000,
      run: async () => ({ issued: await issueReceipts(means) }),
    },
    {
      name: "issue-statements",
      description: "Issues the statements of hosts for months that are over.",
      everyMs: 300_000,
      run: async () => ({ issued: await issueStatements(means) }),
    },
    {
      name: "issue-credit-notes",
      description: "Issues a credit note for each part of an invoice that was given back.",
      // Credits of a month are examined repeatedly until its invoice is issued.
      everyMs: 1_800_000,
      run: async () => ({ issued: await issueCreditNotes(means) }),
    },
  ];
}
