import type { Sheet, SheetTable } from "./rules/sheet.ts";

/** Escapes text for HTML; all text from users and hosts passes through here. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

const STYLE = `
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
.subtitle { margin: .25rem 0 0; } .action { margin: .25rem 0 0; }
address { font-style: normal; white-space: pre-line; overflow-wrap: anywhere; }
.parties { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; margin: 2rem 0 1rem; }
.parties > div { flex: 1 1 14rem; min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: 600; padding: 1.5rem 0 .5rem; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid #c8c8c8; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; } th:last-child, td:last-child { padding-right: 0; }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
thead th { border-bottom-color: #1a1a1a; }
.text { overflow-wrap: anywhere; min-width: 14rem; } tbody th { font-weight: 400; }
.facts th { font-weight: 400; color: #444; white-space: nowrap; padding-right: 1rem; } .facts td { overflow-wrap: anywhere; }
.facts th, .facts td { border: 0; padding-top: 0; padding-bottom: 0; }
tfoot th { text-align: right; font-weight: 400; } tfoot th, tfoot td { border-bottom: 0; }
tr.strong > * { font-weight: 600; } tfoot tr.strong > * { border-top: 2px solid #1a1a1a; }
.note { color: #444; } a { color: #0b4f9e; }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 11px; } .action { display: none; } .scroll { overflow: visible; }
  thead { display: table-header-group; } tfoot { display: table-row-group; } tr { break-inside: avoid; }
  caption { break-after: avoid; } @page { margin: 18mm; } }
`;

/** The document as one self-contained HTML page, to read and to print. */
export function renderSheetPage(sheet: Sheet): string {
  const title = `${sheet.title} ${sheet.number}`;
  const facts = sheet.facts.map(
    ([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`,
  );
  const parties = sheet.parties.map(
    ({ heading, lines }) =>
      `<div><h2>${escaped(heading)}</h2><address>${lines.map(escaped).join("\n")}</address></div>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${escaped(title)}</h1>
${sheet.subtitle === "" ? "" : `<p class="subtitle">${escaped(sheet.subtitle)}</p>`}
<p class="action"><a href="../pdf/" download>Download as PDF</a></p>
</header>
<section class="parties" aria-label="Parties and details">
${parties.join("\n")}
<div><h2>Details</h2><table class="facts">${facts.join("")}</table></div>
</section>
${sheet.tables.map(renderTable).join("\n")}
${sheet.notes.map((note) => `<p class="note">${escaped(note)}</p>`).join("\n")}
</main>
</body>
</html>
`;
}

function renderTable({ caption, columns, rows, empty, totals }: SheetTable): string {
  const numberClass = (isNumber: boolean) => (isNumber ? ' class="number"' : "");
  const heads = columns.map(({ title, isNumber }) => `<th scope="col"${numberClass(isNumber)}>${escaped(title)}</th>`);
  const lines = rows.map(({ cells, note, isStrong }) => {
    const shown = columns.map(({ isNumber }, index) => {
      const text = escaped(cells[index] ?? "");
      if (index > 0) return `<td${numberClass(isNumber)}>${text}</td>`;
      const below = note === "" ? "" : `<br><span class="note">${escaped(note)}</span>`;
      return `<th scope="row" class="text">${text}${below}</th>`;
    });
    return `<tr${isStrong ? ' class="strong"' : ""}>${shown.join("")}</tr>`;
  });
  const none = `<tr><td colspan="${columns.length}">${escaped(empty)}</td></tr>`;
  const sums = totals.map(
    ({ label, amount, isStrong }) =>
      `<tr${isStrong ? ' class="strong"' : ""}><th scope="row" colspan="${columns.length - 1}">${escaped(label)}</th>` +
      `<td class="number">${escaped(amount)}</td></tr>`,
  );
  return `<div class="scroll" role="region" aria-label="${escaped(caption)}" tabindex="0"><table>
<caption>${escaped(caption)}</caption>
<thead><tr>${heads.join("")}</tr></thead>
<tbody>
${rows.length === 0 ? none : lines.join("\n")}
</tbody>
${sums.length === 0 ? "" : `<tfoot>\n${sums.join("\n")}\n</tfoot>`}
</table></div>`;
}
