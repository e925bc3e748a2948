import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { adminAnnouncementDelete, adminAnnouncements, type AdminAnnouncement } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { useNow } from "../../ui/use-now.ts";
import { AnnouncementForm } from "./AnnouncementForm.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/announcements");

/** Announcements of all times: what people see now, what they will see, and what is over. */
export function Announcements() {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(askPlain("operator.announcements", adminAnnouncements));
  const show = (next: string | undefined) => void navigate({ search: { open: next } });
  const opened = list.data?.announcements.find(({ id }) => String(id) === open);
  return (
    <>
      <PageHead
        title="Announcements"
        note="They stand above every page of the people they are for"
        actions={<Button onClick={() => show("new")}>Announce something</Button>}
      />
      <Answer query={list}>
        {({ announcements }) =>
          announcements.length === 0 ? (
            <EmptyState title="Nothing was announced">
              Tell people of maintenance or of changes: what you publish is shown above every page.
            </EmptyState>
          ) : (
            <ul className={classes["list"]} aria-label="Announcements">
              {announcements.map((one) => (
                <Entry key={one.id} announcement={one} onEdit={() => show(String(one.id))} />
              ))}
            </ul>
          )
        }
      </Answer>
      <Panel
        title={opened === undefined ? "Announce something" : `Announcement ${opened.id}`}
        isOpen={open === "new" || opened !== undefined}
        onClose={() => show(undefined)}
      >
        <AnnouncementForm key={open ?? ""} announcement={opened} onDone={() => show(undefined)} />
      </Panel>
    </>
  );
}

const AUDIENCES = { everyone: "for everyone", hosts: "for hosts", renters: "for renters" } as const;

type EntryProps = { readonly announcement: AdminAnnouncement; readonly onEdit: () => void };

function Entry({ announcement, onEdit }: EntryProps) {
  const { title, message, level, audience, from, until } = announcement;
  return (
    <li className={classes["entry"]}>
      <div>
        <p className={classes["entryTitle"]}>
          <HostileText text={title} />
          <ShownState announcement={announcement} />
          {level === "warning" && <StateBadge state={{ word: "warning", tone: "amber", icon: "alert" }} />}
        </p>
        <p className={`${classes["entryText"]} ${classes["message"]}`}>
          <HostileText text={message} />
        </p>
        <p className={classes["entryText"]}>
          {AUDIENCES[audience]}, from <Ago at={from} />
          {until !== null && (
            <>
              {" "}
              until <Ago at={until} />
            </>
          )}
        </p>
      </div>
      <Group gap={8}>
        <ActionButton onClick={onEdit}>Edit</ActionButton>
        <Withdraw announcement={announcement} />
      </Group>
    </li>
  );
}

function ShownState({ announcement: { is_shown: isShown, from } }: { readonly announcement: AdminAnnouncement }) {
  const now = useNow();
  if (isShown) return <StateBadge state={{ word: "shown now", tone: "green", icon: "dot" }} />;
  if (from > now) return <StateBadge state={{ word: "not yet", tone: "blue", icon: "clock" }} />;
  return <StateBadge state={{ word: "over", tone: "grey", icon: "stop" }} />;
}

function Withdraw({ announcement: { id, title } }: { readonly announcement: AdminAnnouncement }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const withdraw = useAction(adminAnnouncementDelete, { changes: ["operator", "notification"], onDone: close });
  return (
    <>
      <ActionButton onClick={() => setOpen(true)}>Withdraw</ActionButton>
      <Confirm
        isOpen={isOpen}
        title={`Withdraw announcement ${id}?`}
        action="Withdraw it"
        isBusy={withdraw.isPending}
        loss={
          <>
            “<HostileText text={title} />” is shown to nobody any more, and its text is deleted.
          </>
        }
        onConfirm={() => withdraw.mutate({ id })}
        onClose={close}
      >
        <p style={{ margin: "12px 0 0" }}>
          <AsCommand request={{ method: "DELETE", path: `/api/v0/admin/announcements/${id}/` }} />
        </p>
        {withdraw.error !== null && <Failure error={withdraw.error} />}
      </Confirm>
    </>
  );
}
