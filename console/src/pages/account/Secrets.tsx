import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { secretDelete, secretList } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { SecretStore } from "../../forms/secret-store.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./account.module.css";

type Open = { readonly name: string | undefined };

/** Environment variables of every container that the account starts. */
export function Secrets() {
  const secrets = useQuery(askPlain("key.secrets", secretList));
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const add = (
    <Button variant="filled" onClick={() => setOpen({ name: undefined })}>
      Add a secret
    </Button>
  );
  return (
    <>
      <PageHead
        title="Secrets"
        note="Environment variables that every container gets when it starts. Their values are never shown again."
        actions={add}
      />
      <Answer query={secrets}>
        {(answer) => <SecretTable names={Object.keys(answer.secrets)} onChange={(name) => setOpen({ name })} />}
      </Answer>
      <Panel
        title={open?.name === undefined ? "Add a secret" : "Another value"}
        isOpen={open !== undefined}
        onClose={close}
      >
        {open !== undefined && <SecretStore name={open.name} onDone={close} />}
      </Panel>
    </>
  );
}

type Props = { readonly names: readonly string[]; readonly onChange: (name: string) => void };

function SecretTable({ names, onChange }: Props) {
  const remove = useAction(secretDelete, { changes: ["key"] });
  return (
    <DataTable
      label="Secrets"
      rows={names}
      keyOf={(name) => name}
      startSort={{ key: "name", isDescending: false }}
      empty={
        <EmptyState title="No secrets">
          A token that all your containers need, such as HF_TOKEN, is kept here and put into each.
        </EmptyState>
      }
      columns={[
        {
          key: "name",
          title: "Name",
          isName: true,
          sortBy: (name) => name,
          cell: (name) => <code className={classes["break"]}>{name}</code>,
        },
        { key: "value", title: "Value", cell: () => <span className="dim">stored</span> },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: (name) => (
            <div className={classes["buttons"]}>
              <Button size="compact-xs" variant="default" onClick={() => onChange(name)}>
                Change<span className="visually-hidden"> {name}</span>
              </Button>
              <RemoveButton
                action={remove}
                input={{ body: { key: name } }}
                what={name}
                loss="New containers do not get it. Containers that run keep it."
                asCommand={
                  <AsCommand
                    command={["env-var", "delete", name]}
                    request={{ method: "DELETE", path: "/api/v0/secrets/", body: { key: name } }}
                  />
                }
              />
            </div>
          ),
        },
      ]}
    />
  );
}
