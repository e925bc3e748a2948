import { webhookUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly json?: boolean;
  readonly address?: string;
  readonly types?: string[];
  readonly name?: string;
};

export async function updateWebhook(id: number, options: Options): Promise<void> {
  const body = given({ webhook_url: options.address, event_types: options.types, name: options.name });
  if (Object.keys(body).length === 0) throw new UserError("No change is given.", "Give --address, --types or --name.");
  const answer = await webhookUpdate(connect(options), { id: String(id), body });
  printAnswer(
    answer,
    options,
    ({ webhook }) => `Webhook ${id} at ${webhook.webhook_url} gets notifications of ${webhook.event_types.join(", ")}.`,
  );
}
