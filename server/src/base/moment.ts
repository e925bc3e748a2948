const DAY_MS = 86_400_000;
/** Four-digit years only: a number of milliseconds given as seconds lies beyond them and is refused. */
const FIRST_MS = -62_135_596_800_000; // 0001-01-01
const LAST_MS = 253_402_300_799_999; // 9999-12-31

/**
 * Reads a moment as published clients write it: seconds since 1970 as an integer or decimal,
 * ISO 8601 date or date-time (UTC unless it says otherwise), or MM/DD/YYYY. A date means its first instant, and its last
 * one with `isEnd`. Undefined when it is none of these or no day of the calendar.
 */
export function parseMoment(text: string, { isEnd }: { readonly isEnd: boolean }): Date | undefined {
  const trimmed = text.trim();
  const ms = parseSeconds(trimmed) ?? parseIso(trimmed, isEnd) ?? parseAmericanDate(trimmed, isEnd);
  return ms === undefined || ms < FIRST_MS || ms > LAST_MS ? undefined : new Date(ms);
}

function parseSeconds(text: string): number | undefined {
  if (!/^-?\d{1,15}(\.\d{1,30})?(e[+-]?\d{1,2})?$/i.test(text)) return undefined;
  return Math.floor(Number(text) * 1000);
}

// A plus sign that was not encoded in the query arrives as a space.
const ISO_MOMENT =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?<time>[T ](?<hours>\d\d):(?<minutes>\d\d)(:(?<seconds>\d\d)([.,](?<fraction>\d{1,9}))?)?(z|(?<sign>[+\- ])(?<zoneHours>\d\d):?(?<zoneMinutes>\d\d))?)?$/i;

function parseIso(text: string, isEnd: boolean): number | undefined {
  const parts = ISO_MOMENT.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const numberOf = (name: string) => Number(parts[name] ?? 0);
  const day = toDay(numberOf("year"), numberOf("month"), numberOf("day"));
  if (day === undefined) return undefined;
  if (parts["time"] === undefined) return wholeDay(day, isEnd);
  const [hours, minutes, seconds] = [numberOf("hours"), numberOf("minutes"), numberOf("seconds")];
  const [zoneHours, zoneMinutes] = [numberOf("zoneHours"), numberOf("zoneMinutes")];
  if (hours > 23 || minutes > 59 || seconds > 59 || zoneHours > 23 || zoneMinutes > 59) return undefined;
  const milliseconds = Number((parts["fraction"] ?? "").padEnd(3, "0").slice(0, 3));
  const east = (zoneHours * 60 + zoneMinutes) * 60_000 * (parts["sign"] === "-" ? -1 : 1);
  return day + (hours * 3600 + minutes * 60 + seconds) * 1000 + milliseconds - east;
}

function parseAmericanDate(text: string, isEnd: boolean): number | undefined {
  const date = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text);
  const day = date === null ? undefined : toDay(Number(date[3]), Number(date[1]), Number(date[2]));
  return day === undefined ? undefined : wholeDay(day, isEnd);
}

function wholeDay(firstMs: number, isEnd: boolean): number {
  return isEnd ? firstMs + DAY_MS - 1 : firstMs;
}

/** Midnight (UTC) of a day of the calendar; undefined when there is no such day. */
function toDay(year: number, month: number, day: number): number | undefined {
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.getTime() : undefined;
}

/** The day (UTC) that a moment lies in, as people read it: 2026-01-31. */
export function dayText(at: Date): string {
  return at.toISOString().slice(0, 10);
}
