const BACK_OFF_FIRST_MS = 1_000;
const BACK_OFF_MAX_MS = 300_000;

/** The time of the next attempt to remove a worker: soon after the first failures, every five minutes in the end. */
export function nextRemovalAt(now: Date, attemptCount: number): Date {
  const doublings = Math.min(Math.max(attemptCount - 1, 0), 30);
  return new Date(now.getTime() + Math.min(BACK_OFF_FIRST_MS * 2 ** doublings, BACK_OFF_MAX_MS));
}

/** The message of a deletion about its workers. */
export function describeRemoval(
  what: "endpoint job" | "workergroup",
  { deletedCount, failedCount }: { readonly deletedCount: number; readonly failedCount: number },
): string {
  const deleted = `Deleted ${what} and ${deletedCount} worker${deletedCount === 1 ? "" : "s"}`;
  if (failedCount === 0) return deleted;
  return `${deleted}; ${failedCount} could not be removed yet and will be tried again`;
}
