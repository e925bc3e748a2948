import { ActionIcon } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { announcementList, type Announcement } from "../../../sdk/src/index.ts";
import { askPlain } from "../api/query.ts";
import { HostileText } from "../ui/HostileText.tsx";
import { Icon } from "../ui/Icon.tsx";
import classes from "./announcements.module.css";

const POLL_MS = 60_000;
/** Announcements that this browser has closed are remembered under this name. */
const CLOSED = "berth-closed-announcements";

/** Announcements of the operator above every page. A closed one returns when its text changes. */
export function AnnouncementBanner() {
  const list = useQuery({ ...askPlain("notification.announcements", announcementList), refetchInterval: POLL_MS });
  const [closed, setClosed] = useLocalStorage<readonly string[]>({ key: CLOSED, defaultValue: [] });
  const all = list.data?.announcements ?? [];
  const shown = all.filter((one) => !closed.includes(nameOf(one)));
  if (shown.length === 0) return null;
  const close = (one: Announcement) => {
    const current = new Set(all.map(nameOf));
    setClosed([...closed.filter((name) => current.has(name)), nameOf(one)]);
  };
  return (
    <section aria-label="Announcements" className={classes["banner"]}>
      {shown.map((one) => (
        <div key={one.id} className={classes["announcement"]} data-level={one.level}>
          <Icon name={one.level === "warning" ? "alert" : "info"} />
          <p className={classes["text"]}>
            <strong>
              <HostileText text={one.title} />
            </strong>{" "}
            <HostileText text={one.message} />
          </p>
          <ActionIcon aria-label={`Close announcement ${one.id}`} size="sm" onClick={() => close(one)}>
            <Icon name="cross" size={14} />
          </ActionIcon>
        </div>
      ))}
    </section>
  );
}

function nameOf({ id, title, message }: Announcement): string {
  return `${id} ${title} ${message}`;
}
