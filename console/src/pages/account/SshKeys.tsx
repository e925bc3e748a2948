import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { sshKeyDelete, sshKeyList, type SshKey } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { SshKeyMake, SshKeyPaste } from "../../forms/ssh-key-add.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { fingerprint, partsOfLine } from "../../text/openssh.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./account.module.css";

const WAYS = [
  { value: "paste", label: "Paste one" },
  { value: "make", label: "Make one here" },
];

/** The SSH keys that open what the account rents. */
export function SshKeys() {
  const keys = useQuery(askPlain("key.ssh", sshKeyList));
  const [isOpen, setOpen] = useState(false);
  const [way, setWay] = useState("paste");
  const close = () => setOpen(false);
  const add = (
    <Button variant="filled" onClick={() => setOpen(true)}>
      Add a key
    </Button>
  );
  return (
    <>
      <PageHead
        title="SSH keys"
        note="Keys that are here when you rent are put into the new instance. Instances that run keep theirs."
        actions={add}
      />
      <Answer query={keys}>{(answer) => <SshKeyTable keys={answer} />}</Answer>
      <Panel title="Add an SSH key" isOpen={isOpen} onClose={close}>
        <SegmentedControl
          fullWidth
          mb={16}
          aria-label="Where the key comes from"
          data={WAYS}
          value={way}
          onChange={setWay}
        />
        {way === "paste" ? <SshKeyPaste onDone={close} /> : <SshKeyMake onDone={close} />}
      </Panel>
    </>
  );
}

function SshKeyTable({ keys }: { readonly keys: readonly SshKey[] }) {
  const remove = useAction(sshKeyDelete, { changes: ["key"] });
  return (
    <DataTable
      label="SSH keys"
      rows={keys}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No SSH keys">
          With an SSH key you connect to your instances. Paste the public half of yours, or have the browser make one.
        </EmptyState>
      }
      columns={[
        {
          key: "name",
          title: "Name",
          isName: true,
          cell: ({ public_key: line, id }) => <HostileText text={partsOfLine(line).comment || `Key ${id}`} />,
        },
        { key: "type", title: "Type", cell: ({ public_key: line }) => partsOfLine(line).type },
        {
          key: "fingerprint",
          title: "Fingerprint",
          isOnCard: true,
          cell: ({ public_key: line }) => <Fingerprint keyBase64={partsOfLine(line).base64} />,
        },
        {
          key: "added",
          title: "Added",
          isOnCard: true,
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <Ago at={created_at} />,
        },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: ({ id, public_key: line }) => (
            <RemoveButton
              action={remove}
              input={{ id: String(id) }}
              what={`the SSH key “${partsOfLine(line).comment || id}”`}
              loss="New instances do not get it. Instances that have it keep it."
              asCommand={
                <AsCommand
                  command={["ssh-key", "delete", String(id)]}
                  request={{ method: "DELETE", path: `/api/v0/ssh/${id}/` }}
                />
              }
            />
          ),
        },
      ]}
    />
  );
}

function Fingerprint({ keyBase64 }: { readonly keyBase64: string }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let isCurrent = true;
    void fingerprint(keyBase64).then((found) => {
      if (isCurrent) setText(found ?? `…${keyBase64.slice(-16)}`);
    });
    return () => {
      isCurrent = false;
    };
  }, [keyBase64]);
  return <code className={classes["break"]}>{text}</code>;
}
