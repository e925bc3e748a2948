import { invalid } from "../../../../base/errors.ts";
import type { Bucket, Hosting, Verified } from "./sample.ts";

/** Length of the time that a stored sample stands for: one census, an hour, a day. */
export const CENSUS_SECONDS = 300;
export const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

export type Span = { readonly stepSeconds: number; readonly at: Date };
export type Scope = { readonly verified: Verified; readonly hosting: Hosting; readonly bucket: Bucket };

/** A time in which samples of one length are used. */
export type Stretch = { readonly stepSeconds: number; readonly from: Date; readonly until: Date };

/** The span of this length that contains `now`; spans are counted from 1970. */
export function spanOf(now: Date, stepSeconds: number): Span {
  const stepMs = stepSeconds * 1000;
  return { stepSeconds, at: new Date(Math.floor(now.getTime() / stepMs) * stepMs) };
}

/** Most points per name; some twenty are the default. */
const POINTS_MAX = 2_000;
const POINTS_DEFAULT = 20;
/** Points of all names together: a request for many names gets fewer points of each. */
const POINTS_IN_ALL_MAX = 40_000;
const RANGE_DEFAULT_SECONDS = 86_400;
const SECONDS_MAX = 32_503_680_000;
/** Ranges of this length or longer have too many single censuses (or hours), so their means are read. */
const HOURS_FROM_SECONDS = 14 * DAY_SECONDS;
const DAYS_FROM_SECONDS = 400 * DAY_SECONDS;

export type Range = { readonly start: Date; readonly end: Date; readonly stepSeconds: number };

/** The requested range. A step that would make too many points, or is shorter than one census, is adjusted. */
export function readRange(
  asked: { readonly start?: string | undefined; readonly end?: string | undefined; readonly step?: string | undefined },
  { now, nameCount }: { readonly now: Date; readonly nameCount: number },
): Range {
  const end = readTime("end", asked.end) ?? Math.floor(now.getTime() / 1000);
  const start = readTime("start", asked.start) ?? end - RANGE_DEFAULT_SECONDS;
  if (start >= end) throw invalid("start", "start must be before end");
  const step = readStep(asked.step) ?? Math.round((end - start) / POINTS_DEFAULT);
  const pointsMax = Math.max(2, Math.min(POINTS_MAX, Math.floor(POINTS_IN_ALL_MAX / Math.max(1, nameCount))));
  const stepSeconds = Math.max(CENSUS_SECONDS, Math.ceil((end - start) / pointsMax), step);
  return { start: new Date(start * 1000), end: new Date(end * 1000), stepSeconds };
}

/** Seconds since 1970, as a number or as ISO text. */
function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const seconds = /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Date.parse(text) / 1000;
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > SECONDS_MAX) {
    throw invalid(field, `${field} must be seconds since 1970, or a time such as 2026-01-31T12:00:00Z`);
  }
  return Math.floor(seconds);
}

function readStep(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 1 || seconds > SECONDS_MAX) {
    throw invalid("step", "step must be a number of seconds from 1 on");
  }
  return Math.floor(seconds);
}

/** Ends of the stored samples of hours, and of days. */
export type Ends = { readonly hours: Date | undefined; readonly days: Date | undefined };

/**
 * The samples that make up a range: the longest that fit its step or its length, as far as they exist; after them the
 * shorter ones, which are rolled up later.
 */
export function stretchesOf({ start, end, stepSeconds }: Range, { hours, days }: Ends): readonly Stretch[] {
  const seconds = (end.getTime() - start.getTime()) / 1000;
  const stretches: Stretch[] = [];
  let from = start;
  const take = (sampleSeconds: number, until: Date | undefined) => {
    const stop = until !== undefined && until < end ? until : end;
    if (until === undefined || stop <= from) return;
    stretches.push({ stepSeconds: sampleSeconds, from, until: stop });
    from = stop;
  };
  if (stepSeconds >= DAY_SECONDS || seconds > DAYS_FROM_SECONDS) take(DAY_SECONDS, days);
  if (stepSeconds >= HOUR_SECONDS || seconds > HOURS_FROM_SECONDS) take(HOUR_SECONDS, hours);
  take(CENSUS_SECONDS, end);
  return stretches;
}
