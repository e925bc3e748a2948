import { dayText } from "../../base/moment.ts";
import { centsText, type DocumentContent, type DocumentLine } from "./document.ts";
import type { InvoiceDocument } from "./document-store.ts";

/** Everything a user or a host wrote passes through here before it stands in HTML. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Days, since people read them: 2026-01-31. The last instant of a month lies in its last day. */
export function periodText({ from, until }: Pick<InvoiceDocument, "from" | "until">): string {
  return `${dayText(from)} to ${dayText(new Date(until.getTime() - 1))} (UTC)`;
}

/** `≈` before what is an average. */
export function rateText({ rate, unit, is_rate_average: isAverage }: DocumentLine): string {
  return `${isAverage ? "≈ " : ""}${rate} / ${unit}`;
}

/** What went on with the balance, a line each: from its opening to its closing they add up. */
export function balanceRows({ balance }: DocumentContent): readonly (readonly [string, number])[] {
  return [
    ["Opening balance", balance.opening_cents],
    ...balance.entries.map(({ label, amount_cents: cents }) => [label, cents] as const),
    ["Usage of this invoice", -balance.usage_cents],
    ...(balance.rounding_cents === 0 ? [] : [["Fractions of a cent carried on", balance.rounding_cents] as const]),
    ["Closing balance", balance.closing_cents],
  ];
}

export function taxLabel({ tax }: DocumentContent): string {
  return `Tax included (${tax.percent} %)`;
}

const STYLE = `
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
address { font-style: normal; white-space: pre-line; overflow-wrap: anywhere; }
.parties { display: flex; flex-wrap: wrap; gap: 1rem 2rem; margin: 1.5rem 0; }
.parties > div { flex: 1 1 14rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; padding: 1.5rem 0 .5rem; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid #c8c8c8; vertical-align: top; }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.text { overflow-wrap: anywhere; min-width: 14rem; }
.facts td { white-space: nowrap; }
tfoot th, tfoot td { border-bottom: 0; } tr.total > * { font-weight: 600; border-top: 2px solid #1a1a1a; }
.balance tbody th { font-weight: 400; } .balance tr:first-child > *, .balance tr:last-child > * { font-weight: 600; }
.note { color: #444; } a { color: #0b4f9e; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } a.action { display: none; }
  thead { display: table-header-group; } tr { break-inside: avoid; } @page { margin: 18mm; } }
`;

/** The invoice as one page that needs nothing else: for reading, and for printing. */
export function renderPage(document: InvoiceDocument): string {
  const { number, issuedAt, content } = document;
  const { seller, buyer } = content;
  const facts = [
    ["Number", number],
    ["Issued", dayText(issuedAt)],
    ["Period", periodText(document)],
    ["Currency", content.currency],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Invoice ${escaped(number)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Invoice ${escaped(number)}</h1>
<p><a class="action" href="../pdf/" download>Download as PDF</a></p>
</header>
<section class="parties" aria-label="Seller, buyer and period">
<div><h2>From</h2>${party(seller, "")}</div>
<div><h2>To</h2>${party(buyer, buyer.email)}</div>
<div><h2>Details</h2><table class="facts">${facts.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${escaped(value ?? "")}</td></tr>`).join("")}</table></div>
</section>
${linesTable(content)}
<div class="scroll" role="region" aria-label="Balance" tabindex="0"><table class="balance">
<caption>Balance in USD: paid from credit</caption>
<thead><tr><th scope="col">Movement</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>
${balanceRows(content)
  .map(([label, cents]) => `<tr><th scope="row">${escaped(label)}</th><td class="number">${centsText(cents)}</td></tr>`)
  .join("\n")}
</tbody>
</table></div>
<p class="note">${escaped(content.tax.note)}</p>
</main>
</body>
</html>
`;
}

function party(of: DocumentContent["seller"], email: string): string {
  const tax = of.tax_id === "" ? "" : `Tax id ${of.tax_id}`;
  const lines = [of.name, ...of.address, email, tax].filter((line) => line !== "");
  return `<address>${lines.map(escaped).join("\n")}</address>`;
}

function linesTable(content: DocumentContent): string {
  const rows = content.lines.map((line) => {
    const unpaid =
      line.unpaid === "0" ? "" : ` <span class="note">($${escaped(line.unpaid)} more was due and not paid)</span>`;
    return `<tr><td class="text">${escaped(line.description)}${unpaid}</td><td class="number">${line.quantity} ${escaped(line.unit)}</td><td class="number">${escaped(rateText(line))}</td><td class="number">${centsText(line.amount_cents)}</td></tr>`;
  });
  const empty = `<tr><td colspan="4">Nothing was used in this month.</td></tr>`;
  const sum = (label: string, cents: number, isTotal: boolean) =>
    `<tr${isTotal ? ' class="total"' : ""}><th scope="row" colspan="3">${escaped(label)}</th><td class="number">${centsText(cents)}</td></tr>`;
  return `<div class="scroll" role="region" aria-label="Usage" tabindex="0"><table>
<caption>Usage in USD</caption>
<thead><tr><th scope="col">What</th><th scope="col" class="number">Quantity</th><th scope="col" class="number">Price</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>
${rows.length === 0 ? empty : rows.join("\n")}
</tbody>
<tfoot>
${sum("Net", content.net_cents, false)}
${sum(taxLabel(content), content.tax.amount_cents, false)}
${sum("Total", content.total_cents, true)}
</tfoot>
</table></div>`;
}
