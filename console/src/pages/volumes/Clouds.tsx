import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  cloudCancelCopy,
  cloudDisconnect,
  cloudList,
  instanceList,
  type CloudConnection,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { CloudConnect } from "../../forms/cloud-connect.tsx";
import { CloudCopy } from "../../forms/cloud-copy.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./volumes.module.css";

/** Progress of a copy is no event: it is asked for while the page is open. */
const PROGRESS_MS = 5_000;
/** Status messages of copies with clouds, by the name that connections have there, such as `s3.3`. */
const CLOUD_COPY = /^cop(y|ying) from .*\b(s3|b2|hf)\.\d+/;
const PLACES: Readonly<Record<string, string>> = { s3: "AWS S3", b2: "Backblaze B2", hf: "Hugging Face" };

/** Connections to cloud storage, and the copies with them. */
export function Clouds() {
  const connections = useQuery(askPlain("cloud.list", cloudList));
  const instances = useQuery({ ...askPlain("instance.list", instanceList), refetchInterval: PROGRESS_MS });
  const rows = instances.data?.instances ?? [];
  const [isAdding, setAdding] = useState(false);
  const [source, setSource] = useState<CloudConnection>();
  const choices = rows.map(({ id, label }) => ({ id, label: label ?? "" }));
  return (
    <Section title="Clouds" actions={<Button onClick={() => setAdding(true)}>Connect a storage</Button>}>
      <p className="dim">Keys are stored encrypted. A host gets them for each copy, and its operator can read them.</p>
      <Answer query={connections}>
        {(found) => <ConnectionTable connections={found} hasInstances={choices.length > 0} onCopy={setSource} />}
      </Answer>
      <CopyTable copies={rows.filter(({ status_msg: message }) => CLOUD_COPY.test(message ?? ""))} />
      <Panel title="Connect a storage" isOpen={isAdding} onClose={() => setAdding(false)}>
        {isAdding && <CloudConnect onDone={() => setAdding(false)} />}
      </Panel>
      <Panel
        title={
          <>
            Copy with <HostileText text={source?.user_given_name ?? ""} />
          </>
        }
        isOpen={source !== undefined}
        onClose={() => setSource(undefined)}
      >
        {source !== undefined && (
          <CloudCopy connection={source} instances={choices} onDone={() => setSource(undefined)} />
        )}
      </Panel>
    </Section>
  );
}

type ConnectionsProps = {
  readonly connections: readonly CloudConnection[];
  readonly hasInstances: boolean;
  readonly onCopy: (connection: CloudConnection) => void;
};

function ConnectionTable({ connections, hasInstances, onCopy }: ConnectionsProps) {
  const remove = useAction(cloudDisconnect, { changes: ["cloud"] });
  return (
    <DataTable
      label="Cloud connections"
      rows={connections}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No clouds">
          Connect a storage by its keys, and copy between it and your instances, running or stopped.
        </EmptyState>
      }
      columns={[
        { key: "name", title: "Name", isName: true, cell: ({ user_given_name: name }) => <HostileText text={name} /> },
        { key: "place", title: "Storage", isOnCard: true, cell: (row) => <HostileText text={storageOf(row)} /> },
        { key: "since", title: "Connected", cell: ({ created_at: at }) => <Ago at={at} /> },
        {
          key: "actions",
          title: "Actions",
          cell: (row) => (
            <span className={classes["actions"]}>
              <ActionButton
                size="compact-sm"
                onClick={() => onCopy(row)}
                reason={hasInstances ? undefined : "You have no instance to copy from or to."}
              >
                Copy
              </ActionButton>
              <RemoveButton
                action={remove}
                input={{ body: { id: row.id } }}
                what={`cloud connection ${row.id}`}
                loss="Its keys are deleted here. Files in the storage stay, and schedules that use it fail."
                asCommand={
                  <AsCommand
                    command={["cloud", "delete", String(row.id)]}
                    request={{ method: "DELETE", path: "/api/v0/users/cloud/", body: { id: row.id } }}
                  />
                }
              />
            </span>
          ),
        },
      ]}
    />
  );
}

/** `AWS S3, eu-central-1`, or the address of another storage. */
function storageOf({ cloud_type: kind, endpoint, region, namespace }: CloudConnection): string {
  return [endpoint ?? PLACES[kind] ?? kind, region, namespace].filter((part) => part !== null).join(", ");
}

type Copying = { readonly id: number; readonly label: string | null; readonly status_msg: string | null };

function CopyTable({ copies }: { readonly copies: readonly Copying[] }) {
  const cancel = useAction(cloudCancelCopy, { changes: ["instance"] });
  if (copies.length === 0) return null;
  return (
    <>
      <DataTable
        label="Copies with clouds"
        rows={copies}
        keyOf={({ id }) => id}
        empty={null}
        columns={[
          { key: "instance", title: "Instance", isName: true, cell: ({ id }) => id },
          {
            key: "progress",
            title: "Progress",
            isOnCard: true,
            cell: ({ status_msg: message }) => <HostileText text={message ?? ""} />,
          },
          {
            key: "cancel",
            title: "Cancel",
            cell: ({ id, status_msg: message }) => (
              <>
                <ActionButton
                  size="compact-sm"
                  onClick={() => cancel.mutate({ body: { dst_id: id } })}
                  reason={message?.startsWith("copying") === true ? undefined : "The copy has ended."}
                >
                  Cancel copy
                </ActionButton>
                <AsCommand request={{ method: "DELETE", path: "/api/v0/commands/rclone/", body: { dst_id: id } }} />
              </>
            ),
          },
        ]}
      />
      {cancel.error !== null && <Failure error={cancel.error} />}
    </>
  );
}
