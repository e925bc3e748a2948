import { webhookCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

export async function createWebhook(
  address: string,
  types: readonly string[],
  options: ConnectionOptions & { readonly json?: boolean; readonly name?: string },
): Promise<void> {
  const body = { webhook_url: address, event_types: [...types], ...given({ name: options.name }) };
  const answer = await webhookCreate(connect(options), { body });
  printAnswer(answer, options, ({ webhook }) =>
    [
      `Webhook ${webhook.id} gets notifications of ${webhook.event_types.join(", ")}.`,
      `Its secret, which is not shown again: ${webhook.webhook_secret}`,
      `Try it with: berth webhook test ${webhook.id}`,
    ].join("\n"),
  );
}
