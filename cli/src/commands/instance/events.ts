import { instanceEvents, type InstanceEventsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { followAccount } from "./follow.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Event = InstanceEventsAnswer["events"][number];

const COLUMNS: readonly Column<Event>[] = [
  { title: "WHEN (UTC)", cell: ({ at }) => new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ") },
  { title: "BY", cell: (event) => event.actor },
  { title: "FROM", cell: (event) => event.from },
  { title: "TO", cell: (event) => event.to },
  { title: "WHAT", cell: (event) => event.message },
];

type Options = ConnectionOptions & {
  readonly limit: number;
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly kinds?: string;
  readonly after?: string;
};

/** Lists the events of an instance; without one, follows the changes of the account. */
export async function showEvents(id: number | undefined, options: Options): Promise<void> {
  const isAboutAccount = options.follow === true || options.kinds !== undefined || options.after !== undefined;
  if (id !== undefined && isAboutAccount) {
    throw new UserError("--follow, --kinds and --after are about the whole account.", "Leave the instance out.", 2);
  }
  if (id !== undefined) return listEvents(id, options);
  if (isAboutAccount) return followAccount(options);
  throw new UserError("Which events?", "Name an instance, as in `berth events 7`, or give --follow.", 2);
}

/** Lists the events of an instance, the oldest first as in a log, so that the newest stands above the prompt. */
async function listEvents(id: number, options: Options): Promise<void> {
  const answer = await instanceEvents(connect(options), { id, query: { limit: options.limit } });
  printAnswer(answer, options, ({ events }) => renderTable(events.toReversed(), COLUMNS, "Nothing has happened yet."));
}
