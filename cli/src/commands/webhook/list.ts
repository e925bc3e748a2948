import { webhookList, type WebhookListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

const COLUMNS: readonly Column<WebhookListAnswer["webhooks"][number]>[] = [
  { title: "ID", cell: (webhook) => webhook.id },
  { title: "NAME", cell: (webhook) => webhook.name },
  { title: "ADDRESS", cell: (webhook) => webhook.webhook_url },
  { title: "TOLD OF", cell: (webhook) => webhook.event_types.join(" ") },
];

export async function listWebhooks(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  printAnswer(await webhookList(connect(options)), options, ({ webhooks }) =>
    renderTable(webhooks, COLUMNS, "You have no webhook. Add one with: berth webhook create"),
  );
}
