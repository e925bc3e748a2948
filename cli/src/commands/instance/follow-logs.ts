import { ApiError, type Client } from "../../../../sdk/src/client.ts";
import { followLogs } from "../../../../sdk/src/follow-logs.ts";
import { instanceRequestLogs } from "../../../../sdk/src/operations.ts";
import { systemTimer, type Timer } from "../../../../sdk/src/timer.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";
import { pollResult } from "../../poll-result.ts";

/** A host with an older agent is asked again after this. */
const POLL_MS = 3_000;

export type FollowLogsOptions = ConnectionOptions & {
  readonly tail: number;
  readonly filter?: string;
  readonly json?: boolean;
};

/** Prints the log of an instance as it is written, until its container stops. */
export async function followInstanceLogs(id: number, options: FollowLogsOptions): Promise<void> {
  const client = connect(options);
  const print = printer(options);
  try {
    const { tail } = options;
    for await (const event of followLogs(client, id, { tail, onPause })) {
      if (event.event === "gap") say(event.reason);
      else print(event.stream, event.text, event.at);
    }
    print.end();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "cannot_follow_logs") throw error;
    say(`${error.msg} This command does so every ${POLL_MS / 1_000} s.`);
    await pollLogs(client, { id, tail: options.tail, print: (text) => print("stdout", text) });
  }
}

function onPause(reason: Error | undefined): void {
  say(`The connection ended${reason === undefined ? "" : ` (${reason.message})`}; connecting again.`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

type Print = {
  (stream: string, text: string, at?: number): void;
  /** Prints what stands after the last line end. */
  end(): void;
};

/** Prints whole lines, those with the filter, or each piece as JSON. */
function printer({ filter = "", json = false }: FollowLogsOptions): Print {
  const open = new Map<string, string>();
  const put = (line: string) => {
    if (line.includes(filter)) process.stdout.write(line);
  };
  const print = (stream: string, text: string, at?: number) => {
    if (json) return printJsonLine({ stream, ...(at === undefined ? {} : { at }), text });
    const lines = `${open.get(stream) ?? ""}${text}`.split(/(?<=\n)/);
    const last = lines.at(-1)?.endsWith("\n") === false ? lines.pop() : undefined;
    open.set(stream, last ?? "");
    for (const line of lines) put(line);
  };
  const end = () => {
    for (const rest of open.values()) if (rest !== "") put(`${rest}\n`);
  };
  return Object.assign(print, { end });
}

type Poll = { readonly id: number; readonly tail: number; readonly print: (text: string) => void };

/** Asks for the newest lines again and again, and prints those that were not there the time before. */
async function pollLogs(client: Client, { id, tail, print }: Poll, timer: Timer = systemTimer): Promise<never> {
  let known: readonly string[] = [];
  for (;;) {
    const { result_url: url } = await instanceRequestLogs(client, { id, body: { tail } });
    const lines = (await pollResult(url, timer)).split(/(?<=\n)/).filter((line) => line !== "");
    for (const line of newLines(known, lines)) print(line);
    known = lines;
    await timer.sleep(POLL_MS);
  }
}

/** The lines behind the longest part that both have: the end of what was known, and the beginning of what is there. */
export function newLines(known: readonly string[], lines: readonly string[]): readonly string[] {
  for (let count = Math.min(known.length, lines.length); count > 0; count -= 1) {
    const from = known.length - count;
    if (lines.slice(0, count).every((line, index) => line === known[from + index])) return lines.slice(count);
  }
  return lines;
}
