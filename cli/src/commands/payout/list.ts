import { billingPayouts, type BillingPayoutsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Payout = BillingPayoutsAnswer["payouts"][number];

const COLUMNS: readonly Column<Payout>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "INVOICED", cell: ({ invoiced_at: at }) => dateText(at) },
  { title: "DUE", cell: ({ due_at: at }) => dateText(at) },
  { title: "EARNED", cell: ({ earned }) => dollars(earned) },
  { title: "FEE", cell: ({ fee }) => dollars(fee) },
  { title: "PAYOUT", cell: ({ amount }) => dollars(amount) },
  { title: "STATE", cell: stateOf },
  { title: "REFERENCE", cell: ({ reference, failure }) => failure ?? reference },
];

/** A part of one that was paid may have come back. */
function stateOf({ state, returned }: Payout): string {
  return state === "paid" && returned > 0 ? `paid, ${dollars(returned)} came back` : state;
}

export async function listPayouts(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await billingPayouts(connect(options));
  const emptyText = "No payouts yet: earnings of $20 and more are invoiced each Friday.";
  printAnswer(answer, options, ({ payouts, fee_percent: percent }) =>
    [renderTable(payouts, COLUMNS, emptyText), "", `The platform keeps ${percent} % of what is earned.`].join("\n"),
  );
}
