import { useQuery } from "@tanstack/react-query";
import { scheduleDelete, scheduleList, type ScheduledJob } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { scheduleText } from "../../text/schedule.ts";
import type { StateWord } from "../../text/states.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./account.module.css";

/** Requests that the server sends for the account at chosen times. */
export function Schedules() {
  const jobs = useQuery(askPlain("schedule.list", scheduleList));
  return (
    <>
      <PageHead
        title="Schedules"
        note="Requests that are sent at chosen times, with the rights of the key that made them."
      />
      <Answer query={jobs}>{(answer) => <JobTable jobs={answer} />}</Answer>
    </>
  );
}

const RUN_WORDS: Readonly<Record<NonNullable<ScheduledJob["last_run"]>["outcome"], StateWord>> = {
  running: { word: "running", tone: "blue", icon: "bar" },
  done: { word: "done", tone: "green", icon: "check" },
  failed: { word: "failed", tone: "red", icon: "alert" },
  unknown: { word: "unknown", tone: "amber", icon: "alert" },
  missed: { word: "missed", tone: "amber", icon: "clock" },
};

function JobTable({ jobs }: { readonly jobs: readonly ScheduledJob[] }) {
  const remove = useAction(scheduleDelete, { changes: ["schedule"] });
  return (
    <DataTable
      label="Schedules"
      rows={jobs}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="No schedules">
          A schedule repeats a request at its times, such as a reboot each night. The command{" "}
          <code>./berth schedule create</code> makes one.
        </EmptyState>
      }
      columns={[
        {
          key: "request",
          title: "Request",
          isName: true,
          cell: ({ request_method: method, api_endpoint: path }) => (
            <code className={classes["break"]}>
              {method} <HostileText text={path} />
            </code>
          ),
        },
        { key: "when", title: "When", isOnCard: true, cell: scheduleText },
        {
          key: "next",
          title: "Next",
          isOnCard: true,
          sortBy: ({ next_time: next }) => next,
          cell: ({ next_time: next, status, stop_reason: reason }) =>
            next === null ? <HostileText text={reason ?? status} /> : <Ago at={next} />,
        },
        {
          key: "last",
          title: "Last run",
          cell: ({ last_run: run }) =>
            run === null ? (
              <span className="dim">none yet</span>
            ) : (
              <StateBadge state={RUN_WORDS[run.outcome]} sentence={run.msg ?? undefined} />
            ),
        },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: ({ id }) => (
            <RemoveButton
              action={remove}
              input={{ id }}
              what={`schedule ${id}`}
              loss="It sends nothing any more, and its history is gone."
              asCommand={
                <AsCommand
                  command={["schedule", "delete", String(id)]}
                  request={{ method: "DELETE", path: `/api/v0/commands/schedule_job/${id}/` }}
                />
              }
            />
          ),
        },
      ]}
    />
  );
}
