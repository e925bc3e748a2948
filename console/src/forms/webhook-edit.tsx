import { Button, MultiSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { notificationTypeList, webhookCreate, webhookUpdate, type Webhook } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

type Props = {
  /** The webhook to change; a new one without it. */
  readonly webhook?: Webhook;
  /** Called when it is done, with the secret of a new webhook, which is shown this once. */
  readonly onDone: (secret?: string) => void;
};

/** Adds or changes an address that the server calls. */
export function WebhookEdit({ webhook, onDone }: Props) {
  const types = useQuery(askPlain("notification.types", notificationTypeList)).data?.notification_types ?? [];
  const [address, setAddress] = useState(webhook?.webhook_url ?? "");
  const [name, setName] = useState(webhook?.name ?? "");
  const [chosen, setChosen] = useState<readonly string[]>(webhook?.event_types ?? []);
  const add = useAction(webhookCreate, {
    changes: ["notification"],
    onDone: ({ webhook: made }) => onDone(made.webhook_secret),
  });
  const update = useAction(webhookUpdate, { changes: ["notification"], onDone: () => onDone() });
  const unnamed = webhook === undefined ? {} : { name: null };
  const body = {
    webhook_url: address.trim(),
    event_types: chosen,
    ...(name.trim() === "" ? unnamed : { name: name.trim() }),
  };
  const send = () => {
    if (webhook === undefined) add.mutate({ body });
    else update.mutate({ id: String(webhook.id), body });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const error = add.error ?? update.error;
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <TextInput
        label="Address"
        placeholder="https://example.com/berth"
        type="url"
        value={address}
        onChange={(event) => setAddress(event.currentTarget.value)}
        required
        data-autofocus
      />
      <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <MultiSelect
        label="Notifications"
        description="It is called for these."
        searchable
        data={types.map(({ key, display_name: label }) => ({ value: key, label }))}
        value={[...chosen]}
        onChange={setChosen}
      />
      {error !== null && <Failure error={error} onRetry={send} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={add.isPending || update.isPending} disabled={chosen.length === 0}>
          {webhook === undefined ? "Add the webhook" : "Change the webhook"}
        </Button>
        {webhook === undefined ? (
          <AsCommand
            command={["webhook", "create", body.webhook_url, ...chosen]}
            request={{ method: "POST", path: "/api/v0/webhooks/", body }}
          />
        ) : (
          <AsCommand
            command={["webhook", "update", String(webhook.id), "--address", body.webhook_url, "--types", ...chosen]}
            request={{ method: "PUT", path: `/api/v0/webhooks/${webhook.id}/`, body }}
          />
        )}
      </div>
    </form>
  );
}
