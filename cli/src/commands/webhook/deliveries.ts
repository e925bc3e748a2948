import { webhookDeliveries, type WebhookDelivery } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: "PLANNED (UTC)", cell: (delivery) => dateText(delivery.created_at) },
  { title: "TYPE", cell: (delivery) => delivery.type },
  { title: "STATE", cell: (delivery) => delivery.state },
  { title: "ATTEMPTS", cell: (delivery) => delivery.attempt_count },
  { title: "ANSWER", cell: (delivery) => delivery.outcome },
  { title: "EVENT", cell: (delivery) => delivery.event_id },
];

export async function listDeliveries(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await webhookDeliveries(connect(options), { id: String(id) });
  printAnswer(answer, options, ({ deliveries }) =>
    renderTable(deliveries, COLUMNS, `Nothing was sent to webhook ${id} yet.`),
  );
}
