import { writeFileSync } from "node:fs";
import {
  billingShowDocument,
  billingShowDocumentPdf,
  type BillingShowDocumentAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, printJson, printLine, renderFields, renderTable, type Column } from "../../output.ts";

type Invoice = BillingShowDocumentAnswer;
type Options = ConnectionOptions & { readonly pdf?: string; readonly json?: boolean };

const LINES: readonly Column<Invoice["lines"][number]>[] = [
  { title: "WHAT", cell: (line) => line.description },
  { title: "FROM", cell: (line) => minute(line.start) },
  { title: "TO", cell: (line) => minute(line.end) },
  // Fees and discounts have no quantity.
  { title: "QUANTITY", cell: (line) => (line.unit === "" ? "" : `${line.quantity} ${line.unit}`) },
  { title: "PRICE", cell: (line) => (line.unit === "" ? "" : `${line.is_rate_average ? "≈" : ""}$${line.rate}`) },
  { title: "AMOUNT", cell: (line) => cents(line.amount) },
];

const BALANCE: readonly Column<{ readonly label: string; readonly amount: number }>[] = [
  { title: "BALANCE", cell: ({ label }) => label },
  { title: "AMOUNT", cell: ({ amount }) => cents(amount) },
];

/** An invoice as text, or as the PDF that a book-keeper wants. */
export async function showDocument(number: string, options: Options): Promise<void> {
  const client = connect(options);
  if (options.pdf !== undefined) {
    const bytes = await billingShowDocumentPdf(client, { number });
    writeFileSync(options.pdf, bytes);
    if (options.json === true) printJson({ success: true, file: options.pdf, bytes: bytes.length });
    else printLine(`Invoice ${number} is in ${options.pdf}.`);
    return;
  }
  printAnswer(await billingShowDocument(client, { number }), options, renderInvoice);
}

function renderInvoice(invoice: Invoice): string {
  const { balance, tax } = invoice;
  const fields = renderFields({
    Invoice: invoice.number,
    Month: new Date(invoice.period_start * 1000).toISOString().slice(0, 7),
    Issued: new Date(invoice.issued_at * 1000).toISOString().slice(0, 10),
    From: [invoice.seller.name, ...invoice.seller.address].join(", "),
    To: [invoice.buyer.name, ...invoice.buyer.address].join(", "),
    Net: cents(invoice.net),
    [taxTitle(tax)]: cents(tax.amount),
    Total: cents(invoice.total),
  });
  const rows = [
    { label: "Opening balance", amount: balance.opening },
    ...balance.entries,
    { label: "Usage of this invoice", amount: -balance.usage },
    ...(balance.rounding === 0 ? [] : [{ label: "Fractions of a cent carried on", amount: balance.rounding }]),
    { label: "Closing balance", amount: balance.closing },
  ];
  const lines = renderTable(invoice.lines, LINES, "Nothing was used in this month.");
  return [fields, lines, renderTable(rows, BALANCE, ""), tax.note].filter((part) => part !== "").join("\n\n");
}

function taxTitle({ name, percent, is_reverse_charge: isReverseCharge }: Invoice["tax"]): string {
  return isReverseCharge ? `${name} (reverse charge)` : `${name} (${percent} %)`;
}

/** A time in UTC: `2026-01-31 12:00`. */
function minute(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** Dollars in whole cents, as invoices have them. */
function cents(amount: number): string {
  return `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(2)}`;
}
