const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time as `2026-01-31 12:30`, in UTC. */
export function dateText(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** A span in the largest unit in which it is two or more: `90 s`, `45 min`, `36 h`, `12 days`. */
export function spanText(seconds: number): string {
  const span = Math.max(0, Math.round(seconds));
  if (span < 2 * MINUTE) return `${span} s`;
  if (span < 2 * HOUR) return `${Math.round(span / MINUTE)} min`;
  if (span < 2 * DAY) return `${Math.round(span / HOUR)} h`;
  return `${Math.round(span / DAY)} days`;
}

/** A time and its distance from now: `2026-01-31 12:30 UTC (in 12 days)`. */
export function whenText(unixSeconds: number, now: Date): string {
  const left = unixSeconds - now.getTime() / 1000;
  return `${dateText(unixSeconds)} UTC (${left < 0 ? `${spanText(-left)} ago` : `in ${spanText(left)}`})`;
}
