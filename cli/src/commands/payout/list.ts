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

/** The state of a payout. A part of a paid one may have come back. */
function stateOf({ state, returned }: Payout): string {
  return state === "paid" && returned > 0 ? `paid, ${dollars(returned)} came back` : state;
}

function holdText({ id, reason, placed_at: at }: BillingPayoutsAnswer["holds"][number]): string {
  return `Payouts are held since ${dateText(at)} UTC (hold ${id}): ${reason}`;
}

/** Earnings that are in no payout, with a line for each reason why a part of them waits. */
function earningsText(earnings: BillingPayoutsAnswer["earnings"]): readonly string[] {
  const { balance, payable, granted, young, held, debt, granted_after_days: after, card_hold_days: days } = earnings;
  if (balance === 0 && payable === 0) return [];
  const rule = after === null ? "an administrator releases it" : `it is paid after ${after} days`;
  const reasons: readonly (readonly [number, string])[] = [
    [granted, `came of granted credit; ${rule}`],
    [young, `came of card payments of the last ${days} days, which may still be disputed`],
    [held, "waits for the hold to be released"],
    [debt, "is your debt for failures of your machines or disputed payments; later earnings pay it"],
  ];
  return [
    `In no payout yet: ${dollars(balance)}, of which ${dollars(payable)} is payable now.`,
    ...reasons.filter(([amount]) => amount > 0).map(([amount, why]) => `  ${dollars(amount)} ${why}.`),
  ];
}

export async function listPayouts(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await billingPayouts(connect(options));
  const emptyText = "No payouts yet: earnings of $20 and more are invoiced each Friday.";
  printAnswer(answer, options, ({ payouts, holds, earnings, fee_percent: percent }) =>
    [
      renderTable(payouts, COLUMNS, emptyText),
      "",
      ...holds.map(holdText),
      ...earningsText(earnings),
      `The platform keeps ${percent} % of what is earned.`,
    ].join("\n"),
  );
}
