// Times and durations as people read them. Times of the API are seconds since the epoch.

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** `4 s`, `3 m 20 s`, `2 h 14 m`, `6 d 1 h`: the two largest units. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return pair([Math.floor(whole / MINUTE), "m"], [whole % MINUTE, "s"]);
  if (whole < DAY) return pair([Math.floor(whole / HOUR), "h"], [Math.floor((whole % HOUR) / MINUTE), "m"]);
  return pair([Math.floor(whole / DAY), "d"], [Math.floor((whole % DAY) / HOUR), "h"]);
}

type Part = readonly [count: number, unit: string];

function pair([large, largeUnit]: Part, [small, smallUnit]: Part): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** How long money lasts: `34 h`, `12 d`, `more than a year`. */
export function lasting(hours: number): string {
  if (hours < 1) return `${Math.max(0, Math.floor(hours * 60))} min`;
  if (hours < 48) return `${Math.floor(hours)} h`;
  if (hours < 24 * 365) return `${Math.floor(hours / 24)} d`;
  return "more than a year";
}

/** `just now`, `3 min ago`, `in 2 h`: the largest unit alone. */
export function ago(atSeconds: number, nowSeconds: number): string {
  const difference = nowSeconds - atSeconds;
  const seconds = Math.abs(difference);
  if (seconds < 5) return "just now";
  const text = largest(seconds);
  return difference > 0 ? `${text} ago` : `in ${text}`;
}

function largest(seconds: number): string {
  if (seconds < MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  if (seconds < 60 * DAY) return `${Math.floor(seconds / DAY)} d`;
  return `${Math.floor(seconds / (30 * DAY))} months`;
}

/** `2026-08-02 14:05:09 UTC`. */
export function utcTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** `2026-08-02`. */
export function utcDay(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** The time in the zone of the browser, with the name of the zone. */
export function localTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString("sv-SE", { timeZoneName: "short" });
}
