import {
  notificationPreferenceShow,
  notificationTypeList,
  type NotificationTypeListAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Row = Pick<
  NotificationTypeListAnswer["notification_types"][number],
  "key" | "display_name" | "mandatory_email"
> & {
  readonly email: boolean;
  readonly webhooks: boolean;
};

const COLUMNS: readonly Column<Row>[] = [
  { title: "TYPE", cell: (row) => row.key },
  { title: "WHAT", cell: (row) => row.display_name },
  { title: "E-MAIL", cell: (row) => (row.mandatory_email ? "always" : row.email ? "on" : "off") },
  { title: "WEBHOOKS", cell: (row) => (row.webhooks ? "on" : "off") },
];

export async function listPreferences(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const { notification_types: types } = await notificationTypeList(client);
  const { notification_preferences: preferences } = await notificationPreferenceShow(client, { user_id: "me" });
  const rows = types.map(({ key, context, slug, display_name, mandatory_email }): Row => {
    const { email = false, webhooks = false } = preferences[context]?.[slug] ?? {};
    return { key, display_name, mandatory_email, email, webhooks };
  });
  printAnswer(rows, options, () => renderTable(rows, COLUMNS, "There are no notification types."));
}
