import { scheduleList, type ScheduledJob } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { rhythmText } from "./times.ts";

const COLUMNS: readonly Column<ScheduledJob>[] = [
  { title: "ID", cell: (job) => job.id },
  { title: "STATUS", cell: (job) => job.status },
  { title: "REQUEST", cell: (job) => `${job.request_method} ${job.api_endpoint}` },
  { title: "INSTANCE", cell: (job) => job.instance_id },
  { title: "RUNS (UTC)", cell: rhythmText },
  { title: "NEXT (UTC)", cell: (job) => timeText(job.next_time) },
  { title: "UNTIL (UTC)", cell: (job) => timeText(job.end_time) },
  { title: "KEY", cell: (job) => job.api_key_id },
  { title: "LAST RUN", cell: lastText },
];

export async function listJobs(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await scheduleList(connect(options));
  const emptyText = "You have no scheduled jobs. Make one: berth schedule create PUT PATH --daily 03:00";
  printAnswer(answer, options, (jobs) => renderTable(jobs, COLUMNS, emptyText));
}

function timeText(seconds: number | null): string | null {
  return seconds === null ? null : dateText(seconds);
}

function lastText({ last_run: run, stop_reason: reason }: ScheduledJob): string | null {
  if (run === null) return reason;
  return [run.outcome, run.error, dateText(run.last_due_time)].filter((part) => part !== null).join(" ");
}
