import { billingPayments, type BillingPaymentsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Payment = BillingPaymentsAnswer["payments"][number];

const COLUMNS: readonly Column<Payment>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "WHEN", cell: ({ created_at: at }) => dateText(at) },
  { title: "AMOUNT", cell: ({ amount }) => dollars(amount) },
  { title: "HOW", cell: ({ kind }) => (kind === "autobill" ? "automatic" : "page") },
  { title: "STATE", cell: ({ state }) => state },
  { title: "NOTE", cell: ({ failure }) => failure },
];

export async function listPayments(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await billingPayments(connect(options));
  const emptyText = "You have paid nothing by card. Add credit: berth billing top-up DOLLARS";
  printAnswer(answer, options, ({ payments }) => renderTable(payments, COLUMNS, emptyText));
}
