import { Button, Checkbox, TextInput } from "@mantine/core";
import { useState } from "react";
import { teamCreateRole, teamDeleteRole, type TeamRole } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { CATEGORIES, documentOf, scopesText } from "../../forms/key-scopes.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "../account/account.module.css";

/** The roles of the team, and what each allows. */
export function Roles({ roles }: { readonly roles: readonly TeamRole[] }) {
  const remove = useAction(teamDeleteRole, { changes: ["team"] });
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <DataTable
        label="Roles"
        rows={roles}
        keyOf={({ id }) => id}
        empty={null}
        columns={[
          { key: "name", title: "Role", isName: true, cell: ({ name }) => <HostileText text={name} /> },
          {
            key: "may",
            title: "May",
            isOnCard: true,
            cell: ({ permissions }) => <span className={classes["scopes"]}>{scopesText(permissions)}</span>,
          },
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: ({ name, identifier }) =>
              identifier === null && (
                <RemoveButton
                  action={remove}
                  input={{ name }}
                  what={`the role “${name}”`}
                  loss="Invitations to it are off. A role that members have cannot be deleted."
                  asCommand={
                    <AsCommand
                      request={{ method: "DELETE", path: `/api/v0/team/roles/${encodeURIComponent(name)}/` }}
                    />
                  }
                />
              ),
          },
        ]}
      />
      <Button variant="default" mt={12} onClick={() => setOpen(true)}>
        Make a role
      </Button>
      <Panel title="Make a role" isOpen={isOpen} onClose={() => setOpen(false)}>
        <MakeRole onDone={() => setOpen(false)} />
      </Panel>
    </>
  );
}

function MakeRole({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>(["instance_read"]);
  const make = useAction(teamCreateRole, { changes: ["team"], onDone });
  const body = { name: name.trim(), permissions: documentOf(chosen) };
  return (
    <form
      className={classes["wide"]}
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate({ body });
      }}
    >
      <TextInput
        label="Name"
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Checkbox.Group label="Members with it may" value={[...chosen]} onChange={setChosen}>
        <div className={classes["checks"]} style={{ marginTop: 8 }}>
          {CATEGORIES.map(({ key, label }) => (
            <Checkbox key={key} value={key} label={label} />
          ))}
        </div>
      </Checkbox.Group>
      <pre className={classes["json"]} aria-label="Permissions" tabIndex={0}>
        {JSON.stringify(body.permissions, null, 2)}
      </pre>
      {make.error !== null && <Failure error={make.error} onRetry={() => make.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={make.isPending}>
          Make the role
        </Button>
        <AsCommand
          command={["team", "create-role", body.name || "NAME", JSON.stringify(body.permissions)]}
          request={{ method: "POST", path: "/api/v0/team/roles/", body }}
        />
      </div>
    </form>
  );
}
