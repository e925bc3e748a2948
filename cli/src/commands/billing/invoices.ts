import { billingListDocuments, type BillingListDocumentsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { allPages } from "./pages.ts";

type Invoice = BillingListDocumentsAnswer["results"][number];

const COLUMNS: readonly Column<Invoice>[] = [
  { title: "NUMBER", cell: ({ number }) => number },
  { title: "MONTH", cell: (invoice) => new Date(invoice.period_start * 1000).toISOString().slice(0, 7) },
  { title: "ISSUED", cell: (invoice) => new Date(invoice.issued_at * 1000).toISOString().slice(0, 10) },
  { title: "TOTAL", cell: ({ total }) => dollars(total) },
];

export async function listDocuments(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const answer = await allPages((page) => billingListDocuments(client, { query: { limit: 500, ...page } }));
  const emptyText = "There is no invoice yet: they are issued when a month is over.";
  printAnswer(answer, options, ({ results }) => renderTable(results, COLUMNS, emptyText));
}
