import { arrearsShow, capList, type CapListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, printLine, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { keptText } from "./kept-text.ts";
import { outlookTexts } from "./outlook-text.ts";

const COLUMNS: readonly Column<CapListAnswer["caps"][number]>[] = [
  { title: "ID", cell: (cap) => cap.id },
  { title: "OF", cell: (cap) => (cap.scope === "account" ? "account" : `${cap.scope}:${cap.scope_id}`) },
  { title: "PER", cell: (cap) => cap.period },
  { title: "LIMIT", cell: (cap) => dollars(cap.limit) },
  { title: "SPENT", cell: (cap) => dollars(cap.spent) },
  { title: "SET ASIDE", cell: (cap) => dollars(cap.held) },
  { title: "LEFT", cell: (cap) => dollars(cap.left) },
  { title: "NEXT PERIOD", cell: (cap) => (cap.resets_at === null ? "never" : dateText(cap.resets_at)) },
];

export async function listCaps(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const answer = await capList(client);
  printAnswer(answer, options, ({ caps }) =>
    renderTable(caps, COLUMNS, "No cap limits your spending. Set one: berth cap set account DOLLARS --per day"),
  );
  if (options.json === true || answer.caps.length === 0) return;
  for (const cap of answer.caps) {
    for (const text of outlookTexts(cap)) printLine(`\nCap ${cap.id} ${text}`);
  }
  const { caps: kept } = await arrearsShow(client);
  for (const one of kept) printLine(`\n${keptText(one)}`);
}
