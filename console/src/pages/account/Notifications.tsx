import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { noticeList, noticeRead, type Notification } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { client } from "../../api/client.ts";
import { useUnreadCount } from "../../api/me.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { LinkTabs } from "../../parts/LinkTabs.tsx";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import classes from "./account.module.css";

const PAGE_SIZE = 25;

/** The pages of notifications: what came, and how it comes. */
export function NotificationTabs() {
  return (
    <LinkTabs
      label="Notifications"
      tabs={[
        { label: "Inbox", to: "/account/notifications" },
        { label: "Preferences", to: "/account/notifications/preferences" },
        { label: "Webhooks", to: "/account/notifications/webhooks" },
      ]}
    />
  );
}

/** The inbox: news about the things of the account, the newest first. */
export function Notifications() {
  const unread = useUnreadCount();
  const notices = useInfiniteQuery({
    queryKey: ["notification", "notification.inbox"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      noticeList(
        client,
        { query: { limit: PAGE_SIZE, ...(pageParam === "" ? {} : { after_token: pageParam }) } },
        { signal },
      ),
    getNextPageParam: ({ next_token: next }) => next ?? undefined,
  });
  const rows = notices.data?.pages.flatMap((page) => page.notices);
  return (
    <>
      <PageHead
        title="Notifications"
        note={unread === 0 ? "All read." : `${count(unread, "notification")} not read yet.`}
      />
      <NotificationTabs />
      <Answer query={{ data: rows, error: notices.error, refetch: notices.refetch }}>
        {(answer) => (answer.length === 0 ? <Nothing /> : <Inbox notices={answer} hasUnread={unread > 0} />)}
      </Answer>
      {notices.hasNextPage && (
        <Button
          variant="default"
          mt={16}
          loading={notices.isFetchingNextPage}
          onClick={() => void notices.fetchNextPage()}
        >
          Older
        </Button>
      )}
    </>
  );
}

function Nothing() {
  return (
    <EmptyState title="No notifications">
      News about your instances, machines and money is kept here for 90 days.
    </EmptyState>
  );
}

function Inbox({ notices, hasUnread }: { readonly notices: readonly Notification[]; readonly hasUnread: boolean }) {
  const read = useAction(noticeRead, { changes: ["notification"] });
  const newest = notices[0]?.id ?? 0;
  return (
    <>
      {hasUnread && (
        <div className={classes["buttons"]}>
          <Button
            variant="default"
            loading={read.isPending}
            onClick={() => read.mutate({ body: { up_to_id: newest } })}
          >
            Mark all as read
          </Button>
          <AsCommand
            command={["notices", "--mark-read"]}
            request={{ method: "PUT", path: "/api/v0/notices/", body: { up_to_id: newest } }}
          />
        </div>
      )}
      {read.error !== null && <Failure error={read.error} />}
      <ul className={classes["list"]} aria-label="Notifications">
        {notices.map((notice) => (
          <li key={notice.id} className={classes["row"]}>
            <div style={{ minWidth: 0 }}>
              <div className={notice.read_at === null ? classes["unread"] : undefined}>
                {notice.read_at === null && <span className="visually-hidden">Not read: </span>}
                <HostileText text={notice.subject} />
              </div>
              <p className={classes["message"]}>
                <HostileText text={notice.message} />
              </p>
              <span className="dim">
                <Ago at={notice.created_at} /> · {notice.type}
              </span>
            </div>
            {notice.read_at === null && (
              <Button size="compact-xs" variant="default" onClick={() => read.mutate({ body: { ids: [notice.id] } })}>
                Mark as read<span className="visually-hidden">: {notice.subject}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
