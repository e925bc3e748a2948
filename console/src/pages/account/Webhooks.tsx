import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  webhookDelete,
  webhookDeliveries,
  webhookList,
  webhookRotateSecret,
  webhookTest,
  type Webhook,
  type WebhookDelivery,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask, askPlain } from "../../api/query.ts";
import { WebhookEdit } from "../../forms/webhook-edit.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import type { StateWord } from "../../text/states.ts";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import type { Column } from "../../ui/table-types.ts";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./account.module.css";
import { NotificationTabs } from "./Notifications.tsx";

/** Addresses that the server calls with notifications. */
export function Webhooks() {
  const webhooks = useQuery(askPlain("notification.webhooks", webhookList));
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string>();
  const add = (
    <Button variant="filled" onClick={() => setOpen(true)}>
      Add a webhook
    </Button>
  );
  return (
    <>
      <PageHead title="Webhooks" note="The server calls these addresses with what happens." actions={add} />
      <NotificationTabs />
      <Answer query={webhooks}>{(answer) => <WebhookTable webhooks={answer.webhooks} onSecret={setSecret} />}</Answer>
      <Panel title="Add a webhook" isOpen={isOpen} onClose={() => setOpen(false)}>
        <WebhookEdit
          onDone={(made) => {
            setOpen(false);
            setSecret(made);
          }}
        />
      </Panel>
      <ShownOnce
        title="The webhook's secret"
        note="Calls are signed with it. Keep it where your program checks them: it is shown never again."
        what="the secret"
        text={secret}
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}

type Opened = { readonly webhook: Webhook; readonly view: "form" | "deliveries" };
type TableProps = { readonly webhooks: readonly Webhook[]; readonly onSecret: (secret: string) => void };

const COLUMNS: readonly Column<Webhook>[] = [
  {
    key: "name",
    title: "Name",
    isName: true,
    cell: ({ name, id }) => <HostileText text={name ?? `Webhook ${id}`} />,
  },
  {
    key: "address",
    title: "Address",
    isOnCard: true,
    cell: ({ webhook_url: address }) => (
      <code className={classes["break"]}>
        <HostileText text={address} />
      </code>
    ),
  },
  { key: "types", title: "Called for", cell: ({ event_types: types }) => count(types.length, "type") },
  { key: "made", title: "Added", cell: ({ created_at: at }) => <Ago at={at} /> },
];

function WebhookTable({ webhooks, onSecret }: TableProps) {
  const test = useAction(webhookTest, { changes: [] });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  return (
    <>
      {test.error !== null && <Failure error={test.error} />}
      {test.data !== undefined && (
        <p role="status">
          <HostileText text={test.data.msg} />
        </p>
      )}
      <DataTable
        label="Webhooks"
        rows={webhooks}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No webhooks">A webhook tells your program what happens, as it happens.</EmptyState>}
        columns={[
          ...COLUMNS,
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: (webhook) => (
              <div className={classes["buttons"]}>
                <ActionButton
                  size="compact-xs"
                  isBusy={test.isPending && test.variables.id === String(webhook.id)}
                  onClick={() => test.mutate({ id: String(webhook.id) })}
                >
                  Test<span className="visually-hidden"> webhook {webhook.id}</span>
                </ActionButton>
                <AsCommand
                  command={["webhook", "test", String(webhook.id)]}
                  request={{ method: "POST", path: `/api/v0/webhooks/${webhook.id}/test/` }}
                />
                <ActionButton size="compact-xs" onClick={() => setOpened({ webhook, view: "deliveries" })}>
                  Deliveries<span className="visually-hidden"> of webhook {webhook.id}</span>
                </ActionButton>
                <ActionButton size="compact-xs" onClick={() => setOpened({ webhook, view: "form" })}>
                  Change<span className="visually-hidden"> webhook {webhook.id}</span>
                </ActionButton>
                <Ends webhook={webhook} onSecret={onSecret} />
              </div>
            ),
          },
        ]}
      />
      <Panel
        title={opened?.view === "deliveries" ? "Deliveries" : "Change the webhook"}
        isOpen={opened !== undefined}
        onClose={close}
      >
        {opened?.view === "form" && <WebhookEdit webhook={opened.webhook} onDone={close} />}
        {opened?.view === "deliveries" && <Deliveries id={String(opened.webhook.id)} />}
      </Panel>
    </>
  );
}

type EndsProps = { readonly webhook: Webhook; readonly onSecret: (secret: string) => void };

/** Replaces the secret of a webhook, or deletes the webhook. */
function Ends({ webhook: { id, name }, onSecret }: EndsProps) {
  const rotate = useAction(webhookRotateSecret, {
    changes: ["notification"],
    onDone: ({ webhook }) => onSecret(webhook.webhook_secret),
  });
  const remove = useAction(webhookDelete, { changes: ["notification"] });
  const what = `the webhook “${name ?? id}”`;
  return (
    <>
      <RemoveButton
        action={rotate}
        input={{ id: String(id) }}
        verb="New secret"
        what={`for ${what}`}
        loss="The old secret is gone at once: your program refuses calls until it has the new one, which is shown next."
        asCommand={
          <AsCommand
            command={["webhook", "rotate", String(id)]}
            request={{ method: "POST", path: `/api/v0/webhooks/${id}/rotate-secret/` }}
          />
        }
      />
      <RemoveButton
        action={remove}
        input={{ id: String(id) }}
        what={what}
        loss="It is called no more, and its secret is gone."
        asCommand={
          <AsCommand
            command={["webhook", "delete", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/webhooks/${id}/` }}
          />
        }
      />
    </>
  );
}

const DELIVERY_WORDS: Readonly<Record<WebhookDelivery["state"], StateWord>> = {
  due: { word: "under way", tone: "blue", icon: "clock" },
  delivered: { word: "delivered", tone: "green", icon: "check" },
  failed: { word: "given up", tone: "red", icon: "alert" },
};

/** The newest deliveries of a webhook with the answers of its receiver. */
function Deliveries({ id }: { readonly id: string }) {
  const deliveries = useQuery(ask("notification.deliveries", webhookDeliveries, { id, query: { limit: 50 } }));
  return (
    <Answer query={deliveries}>
      {(answer) => (
        <DataTable
          label="Deliveries"
          rows={answer.deliveries}
          keyOf={({ event_id: event }) => event}
          empty={
            <EmptyState title="Nothing was sent yet">
              The next notification of its types goes there. Tests are not listed here.
            </EmptyState>
          }
          columns={[
            { key: "what", title: "Event", isName: true, cell: ({ subject }) => <HostileText text={subject} /> },
            { key: "at", title: "Since", isOnCard: true, cell: ({ created_at: at }) => <Ago at={at} /> },
            {
              key: "state",
              title: "State",
              isOnCard: true,
              cell: ({ state }) => <StateBadge state={DELIVERY_WORDS[state]} />,
            },
            {
              key: "answer",
              title: "Answer",
              isOnCard: true,
              cell: ({ outcome, attempt_count: attempts, next_attempt_at: next }) => (
                <>
                  <HostileText text={outcome || "none yet"} />
                  {attempts > 1 && ` after ${attempts} attempts`}
                  {next !== null && (
                    <span className="dim">
                      , again <Ago at={next} />
                    </span>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
    </Answer>
  );
}
