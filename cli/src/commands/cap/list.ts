import { arrearsShow, capList, type ArrearsShowAnswer, type CapListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, printLine, renderTable, type Column } from "../../output.ts";
import { readClock } from "../../clock.ts";
import { dateText, whenText } from "../../time-text.ts";

const COLUMNS: readonly Column<CapListAnswer["caps"][number]>[] = [
  { title: "ID", cell: (cap) => cap.id },
  { title: "OF", cell: (cap) => (cap.scope === "account" ? "account" : `${cap.scope}:${cap.scope_id}`) },
  { title: "PER", cell: (cap) => cap.period },
  { title: "LIMIT", cell: (cap) => dollars(cap.limit) },
  { title: "SPENT", cell: (cap) => dollars(cap.spent) },
  { title: "SET ASIDE", cell: (cap) => dollars(cap.held) },
  { title: "LEFT", cell: (cap) => dollars(cap.left) },
  { title: "BEGINS ANEW", cell: (cap) => (cap.resets_at === null ? "never" : dateText(cap.resets_at)) },
];

export async function listCaps(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const answer = await capList(client);
  printAnswer(answer, options, ({ caps }) =>
    renderTable(caps, COLUMNS, "Nothing limits your spending. Set a cap: berth cap set account DOLLARS --per day"),
  );
  if (options.json === true || answer.caps.length === 0) return;
  const { caps: kept } = await arrearsShow(client);
  for (const one of kept) printLine(`\n${keptText(one)}`);
}

function keptText(kept: ArrearsShowAnswer["caps"][number]): string {
  const instances = kept.instance_ids.map((id) => `instance ${id}`);
  const volumes = kept.volume_ids.map((id) => `volume ${id}`);
  const until = whenText(kept.delete_at, readClock());
  return (
    `Cap ${kept.cap_id} does not pay for ${[...instances, ...volumes].join(", ")}: kept until ${until}, and deleted then ` +
    "unless it leaves enough for a day of that."
  );
}
