import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  scheduleDelete,
  scheduleList,
  scheduleRuns,
  type ScheduledJob,
  type ScheduledRun,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { ask, askPlain } from "../api/query.ts";
import { ScheduleEdit } from "../forms/schedule-edit.tsx";
import { scheduleText } from "../text/schedule.ts";
import type { StateWord } from "../text/states.ts";
import { DataTable } from "../ui/DataTable.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Ago } from "../ui/figures.tsx";
import { HostileText } from "../ui/HostileText.tsx";
import { Panel } from "../ui/Panel.tsx";
import { StateBadge } from "../ui/StateBadge.tsx";
import type { Column } from "../ui/table-types.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Answer } from "./Answer.tsx";
import { AsCommand } from "./AsCommand.tsx";
import { RemoveButton } from "./RemoveButton.tsx";
import classes from "./schedules.module.css";

const RUN_WORDS: Readonly<Record<NonNullable<ScheduledJob["last_run"]>["outcome"], StateWord>> = {
  running: { word: "running", tone: "blue", icon: "bar" },
  done: { word: "done", tone: "green", icon: "check" },
  failed: { word: "failed", tone: "red", icon: "alert" },
  unknown: { word: "unknown", tone: "amber", icon: "alert" },
  missed: { word: "missed", tone: "amber", icon: "clock" },
};

/** A button that opens the form of a new schedule, for an instance or for anything. */
export function AddSchedule({ instance }: { readonly instance?: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant={instance === undefined ? "filled" : "default"} onClick={() => setOpen(true)}>
        Add a schedule
      </Button>
      <Panel title="Add a schedule" isOpen={isOpen} onClose={() => setOpen(false)}>
        <ScheduleEdit instance={instance} onDone={() => setOpen(false)} />
      </Panel>
    </>
  );
}

/** The schedules of the account, or those about one instance, with their runs. */
export function ScheduleList({ instance }: { readonly instance?: number }) {
  const jobs = useQuery(askPlain("schedule.list", scheduleList));
  return (
    <Answer query={jobs}>
      {(answer) => (
        <JobTable
          jobs={instance === undefined ? answer : answer.filter(({ instance_id: id }) => id === instance)}
          isOfInstance={instance !== undefined}
        />
      )}
    </Answer>
  );
}

type Opened = { readonly job: ScheduledJob; readonly view: "form" | "runs" };
type TableProps = { readonly jobs: readonly ScheduledJob[]; readonly isOfInstance: boolean };

function JobTable({ jobs, isOfInstance }: TableProps) {
  const remove = useAction(scheduleDelete, { changes: ["schedule"] });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const actions: Column<ScheduledJob> = {
    key: "actions",
    title: "Actions",
    isOnCard: true,
    cell: (job) => (
      <div className={classes["buttons"]}>
        <ActionButton size="compact-sm" onClick={() => setOpened({ job, view: "form" })}>
          Change<span className="visually-hidden"> schedule {job.id}</span>
        </ActionButton>
        <ActionButton size="compact-sm" onClick={() => setOpened({ job, view: "runs" })}>
          Runs<span className="visually-hidden"> of schedule {job.id}</span>
        </ActionButton>
        <RemoveButton
          action={remove}
          input={{ id: job.id }}
          what={`schedule ${job.id}`}
          loss="It sends nothing any more, and its history is gone."
          asCommand={
            <AsCommand
              command={["schedule", "delete", String(job.id)]}
              request={{ method: "DELETE", path: `/api/v0/commands/schedule_job/${job.id}/` }}
            />
          }
        />
      </div>
    ),
  };
  return (
    <>
      <DataTable
        label="Schedules"
        rows={jobs}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title={isOfInstance ? "No schedules of this instance" : "No schedules"}>
            A schedule does something at its times, such as a reboot each night or a stop at the weekend.
          </EmptyState>
        }
        columns={[...COLUMNS, actions]}
      />
      <Panel
        title={
          opened === undefined
            ? ""
            : `${opened.view === "form" ? "Change schedule" : "Runs of schedule"} ${opened.job.id}`
        }
        isOpen={opened !== undefined}
        onClose={close}
      >
        {opened?.view === "form" && <ScheduleEdit job={opened.job} onDone={close} />}
        {opened?.view === "runs" && <Runs id={opened.job.id} />}
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<ScheduledJob>[] = [
  {
    key: "request",
    title: "Request",
    isName: true,
    cell: ({ request_method: method, api_endpoint: path }) => (
      <code className={classes["path"]}>
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
    cell: ({ last_run: run }) => (run === null ? <span className="dim">none yet</span> : <Outcome run={run} />),
  },
];

function Outcome({ run: { outcome, msg } }: { readonly run: ScheduledRun }) {
  return <StateBadge state={RUN_WORDS[outcome]} sentence={msg ?? undefined} />;
}

/** The last runs of a job with what came of each. */
function Runs({ id }: { readonly id: number }) {
  const runs = useQuery(ask("schedule.runs", scheduleRuns, { id, query: { limit: 100 } }));
  return (
    <Answer query={runs}>
      {(answer) => (
        <DataTable
          label="Runs"
          rows={answer}
          keyOf={({ due_time: due }) => due}
          empty={<EmptyState title="No runs yet">The next one is shown beside the schedule.</EmptyState>}
          columns={[
            { key: "due", title: "Due", isName: true, cell: ({ due_time: due }) => <Ago at={due} /> },
            {
              key: "outcome",
              title: "Outcome",
              isOnCard: true,
              cell: (run) => (
                <>
                  <Outcome run={run} />
                  {run.occurrences > 1 && ` ${run.occurrences} times`}
                </>
              ),
            },
            {
              key: "why",
              title: "Answer",
              isOnCard: true,
              cell: ({ http_status: status, msg }) => (
                <>
                  {status} <HostileText text={msg ?? ""} />
                </>
              ),
            },
          ]}
        />
      )}
    </Answer>
  );
}
