import { machineEarnings, type MachineEarningsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Earned = Pick<MachineEarningsAnswer["per_day"][number], "gpu_earn" | "sto_earn" | "bwu_earn" | "bwd_earn">;
type Options = ConnectionOptions & {
  readonly from?: number;
  readonly to?: number;
  readonly days?: number;
  readonly byDay?: boolean;
  readonly json?: boolean;
};

const SECONDS_PER_DAY = 86_400;

const AMOUNTS: readonly Column<Earned>[] = [
  { title: "GPUS", cell: (row) => dollars(row.gpu_earn) },
  { title: "DISK", cell: (row) => dollars(row.sto_earn) },
  { title: "SENT", cell: (row) => dollars(row.bwu_earn) },
  { title: "RECEIVED", cell: (row) => dollars(row.bwd_earn) },
  { title: "TOTAL", cell: (row) => dollars(row.gpu_earn + row.sto_earn + row.bwu_earn + row.bwd_earn) },
];

/** Shows payments of renters by machine or by day; of the last 30 days unless the options say otherwise. */
export async function showEarnings(machine: number | undefined, options: Options): Promise<void> {
  const { from, to, days, byDay } = options;
  const query = given({ sday: dayOf(from), eday: dayOf(to), last_days: days, machid: machine });
  const answer = await machineEarnings(connect(options), { user_id: "me", query });
  printAnswer(answer, options, (earned) => {
    const emptyText = "Nothing was earned in this time.";
    const rest = `\n\n${restText(earned.current)}`;
    if (byDay === true) {
      const day = { title: "DAY", cell: (row: { readonly day: number }) => dayText(row.day) };
      return renderTable(earned.per_day, [day, ...AMOUNTS], emptyText) + rest;
    }
    const id = { title: "MACHINE", cell: (row: { readonly machine_id: number }) => row.machine_id };
    return renderTable(earned.per_machine, [id, ...AMOUNTS], emptyText) + rest;
  });
}

/** Earnings that are in no payout yet, before and after the fee. */
function restText({ balance, service_fee: fee, total }: MachineEarningsAnswer["current"]): string {
  const less = fee > 0 ? `, less a fee of ${dollars(fee)}: ${dollars(total)}` : "";
  return `In no payout yet: ${dollars(balance)}${less}. See: berth host payouts`;
}

function dayOf(unixSeconds: number | undefined): number | undefined {
  return unixSeconds === undefined ? undefined : Math.floor(unixSeconds / SECONDS_PER_DAY);
}

function dayText(day: number): string {
  return new Date(day * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10);
}
