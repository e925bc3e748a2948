import { instanceRequestLogs } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { pollResult } from "../../poll-result.ts";
import { followInstanceLogs } from "./follow-logs.ts";

type Options = ConnectionOptions & {
  readonly tail: number;
  readonly filter?: string;
  readonly daemon?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
};

export async function printLogs(id: number, options: Options): Promise<void> {
  const { tail, filter, daemon, follow } = options;
  if (follow === true && daemon === true) {
    throw new UserError("Lines of the host's agent cannot be followed.", "Leave --daemon or --follow out.", 2);
  }
  if (follow === true) return followInstanceLogs(id, options);
  const body = given({ tail, filter, daemon_logs: daemon === true ? "true" : undefined });
  const { result_url: url } = await instanceRequestLogs(connect(options), { id, body });
  const text = await pollResult(url);
  printAnswer({ text }, options, () => text.replace(/\n$/, ""));
}
