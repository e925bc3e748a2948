import type { Instance } from "../../instance.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Milliseconds that a stopped instance is kept after its rental has ended. */
export const RETENTION_MS = 2 * DAY_MS;
/** Milliseconds before the end from which the status shows it. */
const NOTICE_MS = DAY_MS;

type Rental = Pick<Instance, "endAt" | "phase">;

/** The time at which an instance is deleted, unless its rental is extended before. */
export function deletesAt({ endAt }: Pick<Instance, "endAt">): Date {
  return new Date(endAt.getTime() + RETENTION_MS);
}

/** The remaining time for people: `12 d 3 h`, `3 h 20 min`, `5 min`; empty when nothing remains. */
export function timeRemaining({ endAt }: Pick<Instance, "endAt">, now: Date): string {
  const ms = endAt.getTime() - now.getTime();
  if (ms <= 0) return "";
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  if (days > 0) return `${days} d ${hours} h`;
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}

/** The sentence on the end of the rental in the status; undefined while the end is far away. */
export function endNote({ endAt, phase }: Rental, now: Date): string | undefined {
  if (phase === "ending" || phase === "ended") return undefined;
  if (endAt <= now) {
    return `its rental has ended: it will be deleted with its data on ${minuteOf(deletesAt({ endAt }))}`;
  }
  const isSoon = endAt.getTime() - now.getTime() <= NOTICE_MS;
  return isSoon
    ? `its rental ends on ${minuteOf(endAt)}: it will be stopped then, and deleted two days later`
    : undefined;
}

/** A time such as `2026-03-01 12:00 UTC`. */
function minuteOf(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
