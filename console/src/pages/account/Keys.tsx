import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { apikeyDelete, apikeyList, type ApiKey } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { useMe } from "../../api/me.ts";
import { askPlain } from "../../api/query.ts";
import { KeyCreate } from "../../forms/key-create.tsx";
import { scopesText } from "../../forms/key-scopes.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";

/** The API keys of the account: made with what they may do, shown once, deleted. */
export function Keys() {
  const me = useMe();
  const keys = useQuery(askPlain("key.api", apikeyList));
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<string>();
  const make = (
    <Button variant="filled" onClick={() => setOpen(true)}>
      Make a key
    </Button>
  );
  return (
    <>
      <PageHead title="Keys" note="Programs and the command line act for the account with a key." actions={make} />
      <Answer query={keys}>
        {({ apikeys }) => <KeyTable keys={apikeys.filter((key) => me === undefined || key.user_id === me.id)} />}
      </Answer>
      <Panel title="Make a key" isOpen={isOpen} onClose={() => setOpen(false)}>
        <KeyCreate
          hasTfa={me?.tfa_status === "enabled"}
          onMade={(key) => {
            setOpen(false);
            setMade(key);
          }}
        />
      </Panel>
      <ShownOnce
        title="Your new key"
        note="Copy it now: the server keeps a hash and shows it never again."
        what="the key"
        text={made}
        onClose={() => setMade(undefined)}
      />
    </>
  );
}

function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  const remove = useAction(apikeyDelete, { changes: ["key"] });
  return (
    <DataTable
      label="API keys"
      rows={keys}
      keyOf={({ id }) => id}
      startSort={{ key: "made", isDescending: true }}
      empty={<EmptyState title="No keys">A key lets programs act for the account, within its permissions.</EmptyState>}
      columns={[
        {
          key: "name",
          title: "Name",
          isName: true,
          sortBy: ({ name }) => name,
          cell: ({ name, id }) => <HostileText text={name === "" ? `Key ${id}` : name} />,
        },
        {
          key: "prefix",
          title: "Begins with",
          isOnCard: true,
          cell: ({ key_prefix }) => <code>{key_prefix}…</code>,
        },
        {
          key: "may",
          title: "May do",
          isOnCard: true,
          cell: ({ permissions, demands_tfa }) => (
            <>
              {scopesText(permissions)}
              {demands_tfa && <span className="dim"> · asks for a second factor</span>}
            </>
          ),
        },
        {
          key: "made",
          title: "Made",
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <Ago at={created_at} />,
        },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: ({ id, name }) => (
            <RemoveButton
              action={remove}
              input={{ id: String(id) }}
              what={name === "" ? `key ${id}` : `the key “${name}”`}
              loss="Programs that use it are refused at once, and sessions that it opened end."
              asCommand={<AsCommand request={{ method: "DELETE", path: `/api/v0/auth/apikeys/${id}/` }} />}
            />
          ),
        },
      ]}
    />
  );
}
