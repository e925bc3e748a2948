import { webhookRotateSecret } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function rotateWebhook(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await webhookRotateSecret(connect(options), { id: String(id) });
  printAnswer(
    answer,
    options,
    ({ webhook }) => `The new secret of webhook ${id}, which is not shown again: ${webhook.webhook_secret}`,
  );
}
