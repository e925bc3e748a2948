import { webhookTest } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Sends a test event; exits with 1 when the receiver did not accept it, so that a script can see it. */
export async function testWebhook(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await webhookTest(connect(options), { id: String(id) });
  printAnswer(answer, options, ({ msg }) => msg);
  if (!answer.success) process.exitCode = 1;
}
