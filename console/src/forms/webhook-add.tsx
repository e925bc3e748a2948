import { Button, MultiSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { notificationTypeList, webhookCreate } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";

/** Adds an address that the server calls; `onMade` gets its secret, which is shown this once. */
export function WebhookAdd({ onMade }: { readonly onMade: (secret: string) => void }) {
  const types = useQuery(askPlain("notification.types", notificationTypeList)).data?.notification_types ?? [];
  const [address, setAddress] = useState("");
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const add = useAction(webhookCreate, {
    changes: ["notification"],
    onDone: ({ webhook }) => onMade(webhook.webhook_secret),
  });
  const body = {
    webhook_url: address.trim(),
    event_types: chosen,
    ...(name.trim() === "" ? {} : { name: name.trim() }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ body });
  };
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
      {add.error !== null && <Failure error={add.error} onRetry={() => add.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={add.isPending} disabled={chosen.length === 0}>
          Add the webhook
        </Button>
        <AsCommand
          command={["webhook", "create", body.webhook_url, ...chosen]}
          request={{ method: "POST", path: "/api/v0/webhooks/", body }}
        />
      </div>
    </form>
  );
}
