import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { webhookDelete, webhookList, webhookTest, type Webhook } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { WebhookAdd } from "../../forms/webhook-add.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
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
      <Answer query={webhooks}>{(answer) => <WebhookTable webhooks={answer.webhooks} />}</Answer>
      <Panel title="Add a webhook" isOpen={isOpen} onClose={() => setOpen(false)}>
        <WebhookAdd
          onMade={(made) => {
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

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const test = useAction(webhookTest, { changes: [] });
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
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: (webhook) => <Acts webhook={webhook} test={test} />,
          },
        ]}
      />
    </>
  );
}

type ActsProps = {
  readonly webhook: Webhook;
  readonly test: {
    readonly isPending: boolean;
    readonly variables: { readonly id: string } | undefined;
    readonly mutate: (input: { readonly id: string }) => void;
  };
};

function Acts({ webhook: { id, name }, test }: ActsProps) {
  const remove = useAction(webhookDelete, { changes: ["notification"] });
  return (
    <div className={classes["buttons"]}>
      <Button
        size="compact-xs"
        variant="default"
        loading={test.isPending && test.variables?.id === String(id)}
        onClick={() => test.mutate({ id: String(id) })}
      >
        Test<span className="visually-hidden"> webhook {id}</span>
      </Button>
      <AsCommand
        command={["webhook", "test", String(id)]}
        request={{ method: "POST", path: `/api/v0/webhooks/${id}/test/` }}
      />
      <RemoveButton
        action={remove}
        input={{ id: String(id) }}
        what={`the webhook “${name ?? id}”`}
        loss="It is called no more, and its secret is gone."
        asCommand={
          <AsCommand
            command={["webhook", "delete", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/webhooks/${id}/` }}
          />
        }
      />
    </div>
  );
}
