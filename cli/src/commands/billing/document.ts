import { writeFileSync } from "node:fs";
import {
  billingShowAnyDocument,
  billingShowAnyDocumentPage,
  billingShowAnyDocumentPdf,
  type BillingShowAnyDocumentAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, printJson, printLine, renderFields, renderTable } from "../../output.ts";

type Document = BillingShowAnyDocumentAnswer;
type Table = Document["shown"]["tables"][number];
type Options = ConnectionOptions & { readonly pdf?: string; readonly page?: string; readonly json?: boolean };

/** A document as text, or as the file that a book-keeper wants. */
export async function showAnyDocument(number: string, options: Options): Promise<void> {
  const client = connect(options);
  const file = options.pdf ?? options.page;
  if (file === undefined) {
    printAnswer(await billingShowAnyDocument(client, { number }), options, renderDocument);
    return;
  }
  const bytes =
    options.pdf === undefined
      ? await billingShowAnyDocumentPage(client, { number })
      : await billingShowAnyDocumentPdf(client, { number });
  writeFileSync(file, bytes);
  if (options.json === true) printJson({ success: true, file, bytes: bytes.length });
  else printLine(`Document ${number} is in ${file}.`);
}

function renderDocument({ shown, seller, buyer, referred_by: later }: Document): string {
  const fields = renderFields({
    [shown.title]: "",
    ...Object.fromEntries(shown.facts.map(({ name, value }) => [name, value])),
    From: [seller.name, ...seller.address, seller.tax_id].filter((part) => part !== "").join(", "),
    To: [buyer.name, ...buyer.address, buyer.tax_id].filter((part) => part !== "").join(", "),
  });
  const referring = later.map(({ number, kind }) => `Corrected by ${kind.replace("_", " ")} ${number}.`);
  const parts = [fields, shown.subtitle, ...shown.tables.map(renderShown), ...shown.notes, ...referring];
  return parts.filter((part) => part !== "").join("\n\n");
}

function renderShown({ caption, columns, rows, totals }: Table): string {
  const sums = totals.map(({ label, amount }) => ({
    cells: [label, ...Array.from({ length: columns.length - 2 }, () => ""), amount],
    note: "",
  }));
  const shown = columns.map((title, index) => ({
    title: title.toUpperCase(),
    cell: ({ cells, note }: Table["rows"][number]) =>
      index === 0 && note !== "" ? `${cells[0] ?? ""} (${note})` : (cells[index] ?? ""),
  }));
  return `${caption}\n${renderTable([...rows, ...sums], shown, "")}`;
}
