import { billingListInvoices, type BillingListInvoicesAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { allPages, daysOf, endOfDay, type DayOptions } from "./pages.ts";

type Movement = BillingListInvoicesAnswer["results"][number];

const DEFAULT_DAYS = 365;

const COLUMNS: readonly Column<Movement>[] = [
  { title: "ID", cell: (row) => row.metadata.invoice_id },
  { title: "WHEN", cell: (row) => dateText(row.start) },
  { title: "TYPE", cell: (row) => row.type },
  { title: "SERVICE", cell: (row) => row.metadata.service },
  {
    title: "WHAT",
    cell: (row) => (row.metadata.paid_from === "deposit" ? `${row.description} (from its deposit)` : row.description),
  },
  {
    title: "AMOUNT",
    cell: (row) => dollars(row.metadata.direction === "in" ? Math.abs(row.amount) : -Math.abs(row.amount)),
  },
];

/** Lists the money that came to the account or left it (below zero), except charges for usage. */
export async function listMovements(
  options: ConnectionOptions & DayOptions & { readonly json?: boolean },
): Promise<void> {
  const client = connect(options);
  const { gte, lte } = daysOf(options, { now: readClock(), defaultDays: DEFAULT_DAYS });
  const filters = JSON.stringify({ when: { gte, lte: endOfDay(lte) } });
  const answer = await allPages((page) =>
    billingListInvoices(client, { query: { select_filters: filters, limit: 500, ...page } }),
  );
  printAnswer(answer, options, ({ results }) => renderTable(results, COLUMNS, "No money moved in this time."));
}
