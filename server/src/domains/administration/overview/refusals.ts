import type { Clock } from "../../../base/clock.ts";

const HOUR_MS = 3_600_000;
const HOURS_KEPT = 24;
/** Buckets of five minutes, so that the last hour is the last hour to within five minutes. */
const BUCKET_MS = 300_000;
const BUCKETS_MAX = (HOURS_KEPT * HOUR_MS) / BUCKET_MS;

export type RefusalCount = { readonly code: string; readonly hour: number; readonly day: number };

/**
 * Counts of rents that this process refused in the last 24 hours, by error code. They are kept in memory: there are as
 * many as error codes and five minutes of a day, and a restart begins at zero.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Map<string, number>>();
  readonly since: Date;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.since = clock.now();
  }

  note(code: string): void {
    const number = this.#numberNow();
    const bucket = this.#buckets.get(number) ?? new Map<string, number>();
    bucket.set(code, (bucket.get(code) ?? 0) + 1);
    this.#buckets.set(number, bucket);
    for (const old of this.#buckets.keys()) if (old <= number - BUCKETS_MAX) this.#buckets.delete(old);
  }

  /** Counts by code, the most frequent of the day first. */
  counts(): readonly RefusalCount[] {
    const now = this.#numberNow();
    const counts = new Map<string, { hour: number; day: number }>();
    for (const [number, bucket] of this.#buckets) {
      if (number <= now - BUCKETS_MAX) continue;
      for (const [code, count] of bucket) {
        const known = counts.get(code) ?? { hour: 0, day: 0 };
        const isRecent = number > now - HOUR_MS / BUCKET_MS;
        counts.set(code, { hour: known.hour + (isRecent ? count : 0), day: known.day + count });
      }
    }
    return [...counts]
      .map(([code, { hour, day }]) => ({ code, hour, day }))
      .toSorted((a, b) => b.day - a.day || (a.code < b.code ? -1 : 1));
  }

  #numberNow(): number {
    return Math.floor(this.#clock.now().getTime() / BUCKET_MS);
  }
}
