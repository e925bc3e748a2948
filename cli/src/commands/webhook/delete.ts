import { webhookDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteWebhook(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await webhookDelete(connect(options), { id: String(id) });
  printAnswer(answer, options, () => `Webhook ${id} is deleted, with its pending deliveries.`);
}
