import { Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  notificationPreferenceShow,
  notificationPreferenceUpdate,
  notificationTypeList,
  type NotificationPreferences,
  type NotificationType,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { NotificationTabs } from "./Notifications.tsx";

type Chosen = NotificationPreferences["notification_preferences"];

/** By which channel each kind of notification goes out. */
export function Preferences() {
  const types = useQuery(askPlain("notification.types", notificationTypeList));
  const chosen = useQuery(ask("notification.preferences", notificationPreferenceShow, { user_id: "me" }));
  return (
    <>
      <PageHead
        title="Preferences"
        note="All notifications stand in the inbox. Choose which are sent to you as well."
      />
      <NotificationTabs />
      <Answer query={types} rows={12}>
        {({ notification_types: known }) => (
          <Answer query={chosen} rows={12}>
            {({ notification_preferences: preferences }) => <Channels types={known} chosen={preferences} />}
          </Answer>
        )}
      </Answer>
    </>
  );
}

type Props = { readonly types: readonly NotificationType[]; readonly chosen: Chosen };

function Channels({ types, chosen }: Props) {
  const store = useAction(notificationPreferenceUpdate, { changes: ["notification"] });
  const put = (type: NotificationType, channel: "email" | "webhooks", isOn: boolean) => {
    const ofType = { ...chosen[type.context]?.[type.slug], [channel]: isOn };
    const next = { ...chosen, [type.context]: { ...chosen[type.context], [type.slug]: ofType } };
    store.mutate({ user_id: "me", body: { notification_preferences: next } });
  };
  const cell = (channel: "email" | "webhooks") => (type: NotificationType) => {
    const isAlways = channel === "email" && type.mandatory_email;
    return (
      <Checkbox
        aria-label={`${type.display_name}: ${channel === "email" ? "by e-mail" : "by webhook"}`}
        checked={isAlways || (chosen[type.context]?.[type.slug]?.[channel] ?? type.default_preferences[channel])}
        disabled={isAlways || store.isPending}
        {...(isAlways ? { label: "always" } : {})}
        onChange={(event) => put(type, channel, event.currentTarget.checked)}
      />
    );
  };
  return (
    <>
      <div>
        <AsCommand
          command={["notification", "set", types[0]?.key ?? "", "--email", "on"]}
          request={{
            ...{ method: "PUT", path: "/api/v0/users/me/notification-prefs/" },
            body: { notification_preferences: chosen },
          }}
        />
      </div>
      {store.error !== null && <Failure error={store.error} />}
      <DataTable
        label="Notification types"
        rows={types}
        keyOf={({ key }) => key}
        empty={null}
        columns={[
          {
            key: "name",
            title: "Notification",
            isName: true,
            cell: ({ display_name: name }) => name,
          },
          { key: "about", title: "About", sortBy: ({ category }) => category, cell: ({ category }) => category },
          { key: "email", title: "E-mail", isOnCard: true, cell: cell("email") },
          { key: "webhooks", title: "Webhooks", isOnCard: true, cell: cell("webhooks") },
        ]}
      />
    </>
  );
}
