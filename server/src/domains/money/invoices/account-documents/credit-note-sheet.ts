import { dayText } from "../../../../base/moment.ts";
import { minuteText, periodText, taxTotals } from "../documents/document-sheet.ts";
import { centsText, partyOf, row, type Sheet } from "../documents/rules/sheet.ts";
import type { CreditNote } from "./rules/account-document.ts";

const COLUMNS = [
  { title: "What", share: 66, isNumber: false },
  { title: "Invoice line", share: 16, isNumber: true },
  { title: "Amount", share: 18, isNumber: true },
];

export function sheetOfCreditNote({ number, issuedAt, content }: CreditNote): Sheet {
  const { seller, buyer, invoice, invoice_line: line, tax, total_cents: total } = content;
  const issued = dayText(new Date(invoice.issued_at_ms));
  const supplied = periodText({ from: new Date(invoice.from_ms), until: new Date(invoice.until_ms) });
  return {
    title: "Credit note",
    number,
    fileName: "credit-note",
    subtitle: `Corrects invoice ${invoice.number} of ${issued}.`,
    issuer: seller.name,
    issuedAt,
    parties: [partyOf("From", seller), partyOf("To", buyer, buyer.email)],
    facts: [
      ["Number", number],
      ["Issued", dayText(issuedAt)],
      ["Invoice", invoice.number],
      ["Supplied", supplied],
      ["Currency", content.currency],
    ],
    tables: [
      {
        caption: "Credited in USD",
        columns: COLUMNS,
        rows: [
          row([content.description, line === null ? "all" : String(line), centsText(total)], {
            note: `Given back on ${minuteText(content.credited_at_ms)} UTC: ${content.reason}`,
          }),
        ],
        empty: "",
        totals: taxTotals(content),
      },
    ],
    notes: [
      "The amount was added to the account's credit, or to the deposit that had paid it. The invoice stays as it was issued.",
      ...(tax.note === "" ? [] : [tax.note]),
    ],
  };
}
