import type { ScheduledJobId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { postNotifications } from "../../notifications/index.ts";
import type { Job } from "./rules/job.ts";
import { KEY_GONE, missedMessage, UNKNOWN, type RunResult } from "./rules/outcome.ts";
import { noticeOf } from "./rules/notice.ts";
import { decideDue } from "./rules/timetable.ts";
import { deleteRun, insertMissed, insertRun, lockLost, storeResult } from "./run-store.ts";
import { lockDue, putBack, setDue, stopJob, type DueOptions } from "./store.ts";

/** An occurrence that this process has begun: nobody else begins it. */
export type BegunRun = { readonly id: bigint; readonly job: Job; readonly dueAt: Date };

/**
 * Decides about jobs that are due: begins their newest occurrence, and notes those that are too late. The runs are
 * committed before their requests are sent, so that an occurrence is sent at most once.
 */
export async function claimDue(
  tx: Tx,
  claim: DueOptions,
): Promise<{ readonly decided: number; readonly begun: readonly BegunRun[] }> {
  const jobs = await lockDue(tx, claim);
  const begun: BegunRun[] = [];
  for (const job of jobs) {
    if (job.dueAt === undefined) continue;
    const { missed, runMs, nextMs } = decideDue(job.timetable, job.dueAt.getTime(), tx.now.getTime());
    const of = { jobId: job.id, apiKeyId: job.apiKeyId };
    if (missed !== undefined) {
      const message = missedMessage(missed);
      const isNew = await insertMissed(tx, of, { ...missed, message });
      if (isNew) await tell(tx, job, new Date(missed.firstMs), { outcome: "missed", message });
    }
    if (runMs !== undefined) {
      const dueAt = new Date(runMs);
      const id = await insertRun(tx, { ...of, dueAt });
      if (id !== undefined) begun.push({ id, job, dueAt });
    }
    await setDue(tx, job.id, nextMs === undefined ? undefined : new Date(nextMs));
  }
  return { decided: jobs.length, begun };
}

/** Stores the result of a run, and tells the owner unless all is well. A job without a key ends. */
export async function endRun(tx: Tx, { id, job, dueAt }: BegunRun, result: RunResult): Promise<void> {
  if (!(await storeResult(tx, id, result))) return;
  if (result === KEY_GONE) {
    await stopJob(tx, { jobId: job.id, apiKeyId: job.apiKeyId, reason: KEY_GONE.message ?? "" });
  }
  if (result.outcome !== "done") await tell(tx, job, dueAt, result);
}

/** Takes back a run that was not sent, so that another server, or this one after its start, begins it. */
export async function releaseRun(tx: Tx, { id, job, dueAt }: BegunRun): Promise<void> {
  if (await deleteRun(tx, id)) await putBack(tx, { jobId: job.id, digest: job.digest, dueAt });
}

/** Notes runs without a result as unknown when they began before this time; returns how many. */
export async function giveUpLost(tx: Tx, before: Date, limit: number): Promise<number> {
  const lost = await lockLost(tx, before, limit);
  for (const { id, jobId, dueAt, ...job } of lost) {
    await storeResult(tx, id, UNKNOWN);
    await tell(tx, { id: jobId, ...job }, dueAt, UNKNOWN);
  }
  return lost.length;
}

type Told = { readonly id: ScheduledJobId } & Pick<Job, "userId" | "method" | "endpoint">;

async function tell(tx: Tx, job: Told, dueAt: Date, result: RunResult): Promise<void> {
  await postNotifications(tx, [{ userId: job.userId, ...noticeOf(job, dueAt, result) }]);
}
