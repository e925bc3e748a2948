import { endpointEvents, type EndpointEventsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly level: string; readonly last: number; readonly json?: boolean };
type Event = EndpointEventsAnswer["events"][number];

/** Prints the events of an endpoint group, oldest first. */
export async function explainEndpoint(id: number, options: Options): Promise<void> {
  const query = { level: Number(options.level), limit: Math.min(options.last, 1000) };
  const answer = await endpointEvents(connect(options), { id, query });
  printAnswer(answer, options, ({ events }) =>
    events.length === 0
      ? `Nothing has happened in endpoint group ${id} yet.`
      : events.toReversed().map(lineOf).join("\n"),
  );
}

function lineOf({ at, worker_id: worker, sentence }: Event): string {
  const time = new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ");
  const text = sentence.replace(/\p{Cc}+/gu, " ");
  const isNamed = worker === undefined || text.startsWith(`Worker ${worker} `);
  return isNamed ? `${time}  ${text}` : `${time}  worker ${worker}: ${text}`;
}
