import { billingInvoices, type BillingInvoicesAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Invoice = BillingInvoicesAnswer["invoices"][number];
type Options = ConnectionOptions & {
  readonly charges?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
};

const COLUMNS: readonly Column<Invoice>[] = [
  { title: "ID", cell: (invoice) => invoice.id },
  { title: "WHEN", cell: (invoice) => new Date(invoice.timestamp * 1000).toISOString().slice(0, 19) },
  { title: "TYPE", cell: (invoice) => invoice.type },
  { title: "WHAT", cell: (invoice) => invoice.description },
  { title: "AMOUNT", cell: (invoice) => dollars(invoice.amount) },
];

export async function listInvoices(options: Options): Promise<void> {
  const { charges, from, to } = options;
  const query = given({ inc_charges: charges === true ? "true" : undefined, sdate: from, edate: to });
  const answer = await billingInvoices(connect(options), { user_id: "me", query });
  printAnswer(answer, options, ({ invoices }) => renderTable(invoices, COLUMNS, "There is no invoice."));
}
