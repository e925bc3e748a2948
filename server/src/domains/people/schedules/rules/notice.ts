import type { ScheduledJobId } from "../../../../base/ids.ts";
import type { Job } from "./job.ts";
import type { RunResult } from "./outcome.ts";

type Named = { readonly id: ScheduledJobId } & Pick<Job, "method" | "endpoint">;

type Notice = {
  readonly kind: "client:scheduled_job_failed";
  readonly subject: string;
  readonly message: string;
  readonly key: string;
};

const SUBJECTS: Readonly<Record<Exclude<RunResult["outcome"], "done">, string>> = {
  failed: "failed",
  unknown: "has an unknown outcome",
  missed: "was missed",
};

/**
 * The notification of a run that did not succeed. The key holds the day and the failure, so that a job which fails each hour
 * for the same reason is told of once a day.
 */
export function noticeOf({ id, method, endpoint }: Named, dueAt: Date, result: RunResult): Notice {
  const { outcome, httpStatus, error, message = "" } = result;
  const when = dueAt.toISOString();
  const [path = ""] = endpoint.split("?");
  const answer = httpStatus === undefined ? "" : ` (${httpStatus} ${error ?? ""})`;
  const what = outcome === "done" ? "succeeded" : SUBJECTS[outcome];
  return {
    kind: "client:scheduled_job_failed",
    subject: `Scheduled job ${id} ${what}`,
    message: `${method} ${path}, due ${when.slice(0, 16).replace("T", " ")} UTC, ${what}${answer}: ${message} See \`berth schedule runs ${id}\`.`,
    key: `scheduled_job:${id}:${when.slice(0, 10)}:${outcome}:${error ?? ""}`,
  };
}
