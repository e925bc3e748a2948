import { instanceListPriceIncreases, type InstanceListPriceIncreasesAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Increase = InstanceListPriceIncreasesAnswer["pending_price_increases"][number];

const SECONDS_PER_HOUR = 3600;

const COLUMNS: readonly Column<Increase>[] = [
  { title: "ID", cell: (asked) => asked.pending_price_increase_id },
  { title: "INSTANCE", cell: (asked) => asked.contract_id },
  {
    title: "GPUS $/HOUR",
    cell: (asked) => change(asked.old_gpu_costpersec, asked.new_gpu_costpersec, SECONDS_PER_HOUR),
  },
  {
    title: "DISK $/HOUR",
    cell: (asked) => change(asked.old_disk_ram_costpersec, asked.new_disk_ram_costpersec, SECONDS_PER_HOUR),
  },
  { title: "SENT $/GB", cell: (asked) => change(asked.old_bwu_cost, asked.new_bwu_cost) },
  { title: "RECEIVED $/GB", cell: (asked) => change(asked.old_bwd_cost, asked.new_bwd_cost) },
  { title: "ENDS", cell: (asked) => dateText(asked.contract_end_date) },
  { title: "ENDS IF ACCEPTED", cell: (asked) => dateText(asked.ask_end_date) },
];

export async function listPriceIncreases(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await instanceListPriceIncreases(connect(options));
  printAnswer(answer, options, ({ pending_price_increases: asked }) =>
    renderTable(asked, COLUMNS, "No host asks for a higher price."),
  );
}

/** The old and the new price: `$0.30 -> $0.35`; one price where it stays. */
function change(before: number, after: number | null, factor = 1): string {
  const old = dollars(before * factor);
  return after === null || after === before ? old : `${old} -> ${dollars(after * factor)}`;
}
