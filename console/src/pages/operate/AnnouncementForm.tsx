import { Button, Select, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { adminAnnouncementCreate, adminAnnouncementUpdate, type AdminAnnouncement } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import classes from "./operate.module.css";

type Props = {
  /** The announcement that is changed; undefined for a new one. */
  readonly announcement: AdminAnnouncement | undefined;
  readonly onDone: () => void;
};

const LEVELS = [
  { value: "info", label: "Information" },
  { value: "warning", label: "Warning" },
] as const;
const AUDIENCES = [
  { value: "everyone", label: "Everyone, also people who are not signed in" },
  { value: "hosts", label: "Hosts" },
  { value: "renters", label: "Renters" },
] as const;
type Level = (typeof LEVELS)[number]["value"];
type Audience = (typeof AUDIENCES)[number]["value"];

type Draft = {
  readonly title: string;
  readonly message: string;
  readonly level: Level;
  readonly audience: Audience;
  /** Times as a field for times has them, in UTC; empty without one. */
  readonly from: string;
  readonly until: string;
};

/** The text of an announcement, its audience and its time. */
export function AnnouncementForm({ announcement, onDone }: Props) {
  const [draft, setDraft] = useState<Draft>({
    title: announcement?.title ?? "",
    message: announcement?.message ?? "",
    level: announcement?.level ?? "info",
    audience: announcement?.audience ?? "everyone",
    from: inputTime(announcement?.from),
    until: inputTime(announcement?.until),
  });
  const done = { changes: ["operator", "notification"] as const, onDone };
  const create = useAction(adminAnnouncementCreate, done);
  const update = useAction(adminAnnouncementUpdate, done);
  const body = bodyOf(draft);
  const id = announcement?.id;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (id === undefined) create.mutate({ body });
    else update.mutate({ id, body });
  };
  const request =
    id === undefined
      ? { method: "POST", path: "/api/v0/admin/announcements/", body }
      : { method: "PUT", path: `/api/v0/admin/announcements/${id}/`, body };
  const error = create.error ?? update.error;
  return (
    <form className={classes["form"]} onSubmit={submit}>
      <Words draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      <Scope draft={draft} isNew={id === undefined} onChange={(change) => setDraft({ ...draft, ...change })} />
      <Button type="submit" loading={create.isPending || update.isPending}>
        {id === undefined ? "Publish" : "Save"}
      </Button>
      <AsCommand request={request} />
      {error !== null && <Failure error={error} />}
    </form>
  );
}

function bodyOf({ title, message, level, audience, from, until }: Draft) {
  const [fromAt, untilAt] = [secondsOf(from), secondsOf(until)];
  return {
    ...{ title: title.trim(), message: message.trim(), level, audience },
    ...(fromAt !== undefined && { from: fromAt }),
    ...(untilAt !== undefined && { until: untilAt }),
  };
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (change: Partial<Draft>) => void };

function Words({ draft: { title, message }, onChange }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Title"
        required
        maxLength={120}
        value={title}
        onChange={(event) => onChange({ title: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label="Message"
        description="Plain text of up to 2,000 characters. Say what happens, when, and what people do now."
        required
        maxLength={2000}
        autosize
        minRows={3}
        maxRows={12}
        value={message}
        onChange={(event) => onChange({ message: event.currentTarget.value })}
      />
    </>
  );
}

function Scope({
  draft: { level, audience, from, until },
  isNew,
  onChange,
}: FieldsProps & { readonly isNew: boolean }) {
  return (
    <>
      <Select
        label="Level"
        data={LEVELS}
        value={level}
        onChange={(value) => onChange({ level: value === "warning" ? "warning" : "info" })}
        allowDeselect={false}
      />
      <Select
        label="Shown to"
        data={AUDIENCES}
        value={audience}
        onChange={(value) => onChange({ audience: AUDIENCES.find((one) => one.value === value)?.value ?? audience })}
        allowDeselect={false}
      />
      <TextInput
        label="From (UTC)"
        description={isNew ? "Now when empty." : "As it was when empty."}
        type="datetime-local"
        value={from}
        onChange={(event) => onChange({ from: event.currentTarget.value })}
      />
      <TextInput
        label="Until (UTC)"
        description={isNew ? "Without an end when empty." : "As it was when empty. To end it now, withdraw it."}
        type="datetime-local"
        value={until}
        onChange={(event) => onChange({ until: event.currentTarget.value })}
      />
    </>
  );
}

/** A time of the API as a field takes it, in UTC; empty without one. */
function inputTime(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? "" : new Date(seconds * 1000).toISOString().slice(0, 16);
}

function secondsOf(text: string): number | undefined {
  const milliseconds = Date.parse(`${text}Z`);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}
