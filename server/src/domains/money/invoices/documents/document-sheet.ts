import { dayText } from "../../../../base/moment.ts";
import type { DocumentLine } from "./rules/document-lines.ts";
import type { DocumentContent } from "./rules/document.ts";
import type { InvoiceDocument } from "./document-store.ts";
import { amountsTable, centsText, partyOf, row, type Sheet, type SheetTotal } from "./rules/sheet.ts";

const COLUMNS = [
  { title: "What", share: 44, isNumber: false },
  { title: "Quantity", share: 19, isNumber: true },
  { title: "Price", share: 22, isNumber: true },
  { title: "Amount", share: 15, isNumber: true },
];

/** A monthly invoice as its page and its PDF show it. */
export function sheetOfInvoice(document: InvoiceDocument): Sheet {
  const { number, issuedAt, content } = document;
  const lines = content.lines.map((line) => {
    const unpaid = line.unpaid === "0" ? "" : ` ($${line.unpaid} more was due and not paid)`;
    const cells = [line.description + unpaid, quantityText(line), rateText(line), centsText(line.amount_cents)];
    return row(cells, { note: content.edition === undefined ? "" : spanText(line.from_ms, line.to_ms) });
  });
  const balance = balanceRows(content);
  return {
    title: "Invoice",
    number,
    fileName: "invoice",
    subtitle: "",
    issuer: content.seller.name,
    issuedAt,
    parties: [partyOf("From", content.seller), partyOf("To", content.buyer, content.buyer.email)],
    facts: [
      ["Number", number],
      ["Issued", dayText(issuedAt)],
      ["Supplied", periodText(document)],
      ["Currency", content.currency],
    ],
    tables: [
      {
        caption: "Usage in USD",
        columns: COLUMNS,
        rows: lines,
        empty: "Nothing was used in this month.",
        totals: taxTotals(content),
      },
      amountsTable(
        "Balance in USD: paid from credit",
        "Movement",
        balance.map(([label, cents], index) =>
          row([label, centsText(cents)], { isStrong: index === 0 || index === balance.length - 1 }),
        ),
      ),
    ],
    notes: content.tax.note === "" ? [] : [content.tax.note],
  };
}

/** Days as people read them: 2026-01-31. The last instant of a month lies in its last day. */
export function periodText({ from, until }: { readonly from: Date; readonly until: Date }): string {
  return `${dayText(from)} to ${dayText(new Date(until.getTime() - 1))} (UTC)`;
}

/** A time span to the minute: 2026-03-02 10:00 to 2026-03-20 09:30 UTC. */
function spanText(fromMs: number, toMs: number): string {
  const [from, to] = [minuteText(fromMs), minuteText(toMs)];
  return from === to ? `${from} UTC` : `${from} to ${to} UTC`;
}

export function minuteText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}

/** Empty for lines without a quantity: fees and discounts. */
function quantityText({ quantity, unit }: DocumentLine): string {
  return unit === "" ? "" : `${quantity} ${unit}`;
}

/** A rate, with `≈` before an average. */
function rateText({ rate, unit, is_rate_average: isAverage }: DocumentLine): string {
  if (unit === "") return "";
  return `${isAverage ? "≈ " : ""}${rate} / ${unit}`;
}

/** The movements of the balance, one row each; from opening to closing they add up. */
function balanceRows({ balance }: DocumentContent): readonly (readonly [string, number])[] {
  return [
    ["Opening balance", balance.opening_cents],
    ...balance.entries.map(({ label, amount_cents: cents }) => [label, cents] as const),
    ["Usage of this invoice", -balance.usage_cents],
    ...(balance.rounding_cents === 0 ? [] : [["Fractions of a cent carried on", balance.rounding_cents] as const]),
    ["Closing balance", balance.closing_cents],
  ];
}

/** Net, tax and total, at the end of every document with tax. */
export function taxTotals({
  net_cents: net,
  tax,
  total_cents: total,
}: Pick<DocumentContent, "net_cents" | "tax" | "total_cents">): readonly SheetTotal[] {
  return [
    { label: "Net", amount: centsText(net), isStrong: false },
    { label: taxLabel(tax), amount: centsText(tax.amount_cents), isStrong: false },
    { label: "Total in USD", amount: centsText(total), isStrong: true },
  ];
}

function taxLabel(tax: DocumentContent["tax"]): string {
  if (tax.is_reverse_charge === true) return `${tax.name ?? "Tax"} (reverse charge)`;
  return `${tax.name ?? "Tax"} included (${tax.percent} %)`;
}
