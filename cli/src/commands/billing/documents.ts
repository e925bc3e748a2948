import { billingListAllDocuments, type BillingListAllDocumentsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { allPages } from "./pages.ts";

type Document = BillingListAllDocumentsAnswer["results"][number];
type Options = ConnectionOptions & { readonly kind?: string; readonly json?: boolean };

const dayOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);

const COLUMNS: readonly Column<Document>[] = [
  { title: "NUMBER", cell: ({ number }) => number },
  { title: "KIND", cell: ({ kind }) => kind.replace("_", " ") },
  { title: "ISSUED", cell: (document) => dayOf(document.issued_at) },
  { title: "MONTH", cell: ({ period_start: start }) => (start === null ? null : dayOf(start).slice(0, 7)) },
  { title: "TOTAL", cell: ({ total }) => `${total < 0 ? "-" : ""}$${Math.abs(total).toFixed(2)}` },
  { title: "REFERS TO", cell: (document) => document.refers_to },
];

export async function listAllDocuments({ kind, ...options }: Options): Promise<void> {
  const client = connect(options);
  const filter = kind === undefined ? {} : { kind };
  const answer = await allPages((page) =>
    billingListAllDocuments(client, { query: { limit: 500, ...filter, ...page } }),
  );
  const emptyText = "There is no document yet: receipts come with payments, invoices when a month is over.";
  printAnswer(answer, options, ({ results }) => renderTable(results, COLUMNS, emptyText));
}
