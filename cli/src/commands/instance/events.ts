import { instanceEvents, type InstanceEventsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Event = InstanceEventsAnswer["events"][number];

const COLUMNS: readonly Column<Event>[] = [
  { title: "WHEN (UTC)", cell: ({ at }) => new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ") },
  { title: "BY", cell: (event) => event.actor },
  { title: "FROM", cell: (event) => event.from },
  { title: "TO", cell: (event) => event.to },
  { title: "WHAT", cell: (event) => event.message },
];

/** Lists the events of an instance, the oldest first as in a log, so that the newest stands above the prompt. */
export async function listEvents(
  id: number,
  options: ConnectionOptions & { readonly limit: number; readonly json?: boolean },
): Promise<void> {
  const answer = await instanceEvents(connect(options), { id, query: { limit: options.limit } });
  printAnswer(answer, options, ({ events }) => renderTable(events.toReversed(), COLUMNS, "Nothing has happened yet."));
}
