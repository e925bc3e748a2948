import { instanceExecute } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { pollResult } from "../../poll-result.ts";

/** Runs `ls`, `rm` or `du` in the files of an instance and prints their output. */
export async function executeCommand(
  id: number,
  command: string,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceExecute(connect(options), { id, body: { command } });
  const text = await pollResult(answer.result_url);
  printAnswer({ text }, options, () => text.replace(/\n$/, ""));
}
