import { followEvents, type LiveEvent } from "../../../../sdk/src/follow-events.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";

type Options = ConnectionOptions & {
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly kinds?: string;
  readonly after?: string;
};

/** Prints a line for each event; without `--follow` those that were missed since `--after`. */
export async function followAccount(options: Options): Promise<void> {
  const { kinds, after, follow = false, json = false } = options;
  const pause = (reason: Error | undefined) =>
    process.stderr.write(
      `The connection ended${reason === undefined ? "" : ` (${reason.message})`}; connecting again.\n`,
    );
  const events = followEvents(connect(options), {
    ...(kinds === undefined ? {} : { kinds: kinds.split(",") }),
    ...(after === undefined ? {} : { lastEventId: after }),
    onPause: pause,
  });
  for await (const event of events) {
    process.stdout.write(`${json ? lineOfJson(event) : lineOf(event)}\n`);
    if (!follow && event.event === "ready") return;
  }
}

function lineOfJson({ event, lastEventId, data }: LiveEvent): string {
  return JSON.stringify({ event, last_event_id: lastEventId, data });
}

function lineOf({ event, data: { id, change, ...facts } }: LiveEvent): string {
  if (event === "ready") return "Everything until now was told.";
  if (event === "reset") return "Some changes are not known any more: read everything again.";
  const shown = Object.entries(facts)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}=${textOf(value)}`);
  return [event, textOf(id ?? ""), textOf(change), ...shown].filter((part) => part !== "").join(" ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? clean(value) : JSON.stringify(value);
}

/** Control characters would move the terminal's cursor or colours. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, "\u{FFFD}");
}
