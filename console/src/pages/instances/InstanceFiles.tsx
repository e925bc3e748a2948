import { Button, FileButton, Progress, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import {
  instanceDeleteFile,
  instanceListFiles,
  instanceMakeFolder,
  type FileEntry,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask } from "../../api/query.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { bytes } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Bytes } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";
import { contentPath, useUpload } from "./use-upload.ts";
import classes from "./instances.module.css";

const route = getRouteApi("/frame/instances/$id/files");

/** The files of an instance, folder by folder: up, down, new folders, deletion. */
export function InstanceFiles() {
  const { id } = route.useParams();
  const { path = "/root" } = route.useSearch();
  const navigate = route.useNavigate();
  const [doomed, setDoomed] = useState<FileEntry | undefined>();
  const folder = useQuery({
    ...ask("instance.files", instanceListFiles, { id: Number(id), query: { path } }),
    retry: false,
  });
  const remove = useAction(instanceDeleteFile, { changes: ["instance"], onDone: () => setDoomed(undefined) });
  const open = (next: string) => void navigate({ search: { path: next } });
  const entries = folder.data?.entries;
  return (
    <Section title="Files" actions={<Uploads id={Number(id)} path={path} />}>
      <Place path={path} onOpen={open} />
      {folder.error !== null && <Failure error={folder.error} onRetry={() => void folder.refetch()} />}
      {folder.data?.is_complete === false && <p className="dim">This folder has more entries than are listed here.</p>}
      {(entries !== undefined || folder.error === null) && (
        <DataTable
          label="Files"
          rows={entries}
          columns={columnsOf({ id: Number(id), path, open, remove: setDoomed })}
          keyOf={({ name }) => name}
          startSort={{ key: "name", isDescending: false }}
          empty={<EmptyState title="The folder is empty">Upload a file, or copy with ./berth copy.</EmptyState>}
        />
      )}
      <Confirm
        isOpen={doomed !== undefined}
        title={`Delete ${doomed?.name ?? ""}?`}
        action="Delete"
        loss={
          <>
            <p>
              <HostileText text={joined(path, doomed?.name ?? "")} /> is lost.
            </p>
            <AsCommand
              request={{
                ...{ method: "DELETE" },
                path: `/api/v0/instances/${id}/files/?path=${encodeURIComponent(joined(path, doomed?.name ?? ""))}`,
              }}
            />
          </>
        }
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate({ id: Number(id), query: { path: joined(path, doomed?.name ?? "") } })}
        onClose={() => setDoomed(undefined)}
      >
        {remove.error !== null && <Failure error={remove.error} />}
      </Confirm>
    </Section>
  );
}

type Ways = {
  readonly id: number;
  readonly path: string;
  readonly open: (path: string) => void;
  readonly remove: (entry: FileEntry) => void;
};

function columnsOf({ id, path, open, remove }: Ways): readonly Column<FileEntry>[] {
  return [
    {
      key: "name",
      title: "Name",
      isName: true,
      sortBy: orderOf,
      cell: (entry) => <Name {...{ id, path, entry, open }} />,
    },
    {
      key: "size",
      title: "Size",
      isFigure: true,
      isOnCard: true,
      sortBy: ({ size_bytes: size }) => size,
      cell: ({ type, size_bytes: size }) => (type === "file" ? <Bytes count={size} /> : "–"),
    },
    {
      key: "modified",
      title: "Changed",
      isFigure: true,
      isOnCard: true,
      sortBy: ({ modified_at: at }) => at,
      cell: ({ modified_at: at }) => <Ago at={at} />,
    },
    { key: "mode", title: "Mode", cell: ({ mode }) => <code>{mode}</code> },
    {
      key: "delete",
      title: "Delete",
      cell: (entry) => (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={`Delete ${entry.name}`}
          disabled={!entry.is_addressable}
          onClick={() => remove(entry)}
        >
          Delete
        </Button>
      ),
    },
  ];
}

/** Folders first, then by name. */
function orderOf(entry: FileEntry): string {
  return `${isFolder(entry) ? 0 : 1} ${entry.name}`;
}

function isFolder({ type, leads_to: leads }: FileEntry): boolean {
  return type === "folder" || leads === "folder";
}

function Name({ id, path, entry, open }: Omit<Ways, "remove"> & { readonly entry: FileEntry }) {
  const { name, target, is_addressable: isAddressable } = entry;
  const place = joined(path, name);
  const rest = target === null ? "" : ` → ${target}`;
  if (!isAddressable) return <HostileText text={`${name}${rest}`} />;
  if (isFolder(entry)) {
    return (
      <button type="button" className={classes["entry"]} onClick={() => open(place)}>
        <HostileText text={`${name}/${rest}`} />
      </button>
    );
  }
  return (
    <a href={contentPath(id, place)} download>
      <HostileText text={`${name}${rest}`} />
    </a>
  );
}

/** The folder as a field that goes elsewhere, and the folder above it. */
function Place({ path, onOpen }: { readonly path: string; readonly onOpen: (path: string) => void }) {
  const [text, setText] = useState(path);
  const [shown, setShown] = useState(path);
  if (shown !== path) {
    setShown(path);
    setText(path);
  }
  return (
    <form
      className={classes["many"]}
      onSubmit={(event) => {
        event.preventDefault();
        onOpen(text);
      }}
    >
      <Button variant="default" onClick={() => onOpen(parentOf(path))} disabled={path === "/"}>
        Up
      </Button>
      <TextInput
        size="xs"
        aria-label="Folder"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        spellCheck={false}
      />
      <Button type="submit" variant="default">
        Go
      </Button>
    </form>
  );
}

function Uploads({ id, path }: { readonly id: number; readonly path: string }) {
  const upload = useUpload(id);
  const [name, setName] = useState("");
  const make = useAction(instanceMakeFolder, { changes: ["instance"], onDone: () => setName("") });
  return (
    <div className={classes["many"]}>
      <TextInput
        size="xs"
        aria-label="Name of a new folder"
        placeholder="New folder"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={name === ""}
        loading={make.isPending}
        onClick={() => make.mutate({ id, body: { path: joined(path, name) } })}
      >
        Make folder
      </Button>
      {name !== "" && (
        <AsCommand
          command={["ssh", String(id), "--", "mkdir", joined(path, name)]}
          request={{
            ...{ method: "POST", path: `/api/v0/instances/${id}/files/folders/` },
            body: { path: joined(path, name) },
          }}
        />
      )}
      <FileButton onChange={(file) => file !== null && upload.start(joined(path, file.name), file)}>
        {(props) => (
          <Button variant="filled" loading={upload.sent !== undefined} {...props}>
            Upload
          </Button>
        )}
      </FileButton>
      {upload.sent !== undefined && (
        <span role="status">
          <Progress value={(upload.sent.bytes / Math.max(1, upload.sent.all)) * 100} w={120} aria-label="Upload" />
          {bytes(upload.sent.bytes)} of {bytes(upload.sent.all)}
        </span>
      )}
      {upload.error !== undefined && <Failure error={upload.error} />}
      {make.error !== null && <Failure error={make.error} />}
    </div>
  );
}

function joined(folder: string, name: string): string {
  return folder.endsWith("/") ? `${folder}${name}` : `${folder}/${name}`;
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*\/?$/, "") || "/";
}
