import type { InstanceId } from "../../../../base/ids.ts";
import type { Instance } from "../instance.ts";

/** The terms of a rental at one time. */
export type Terms = Pick<
  Instance,
  "priceNanosPerHour" | "storageNanosPerGbMonth" | "inetUpNanosPerGb" | "inetDownNanosPerGb" | "discountPpm"
>;

/** Replaced terms with their end: a time for storage, and marks in the counters of the run that was the present one. */
export type PastTerms = Terms & {
  readonly instanceId: InstanceId;
  readonly untilAt: Date;
  readonly generation: number;
  readonly untilRunningMs: bigint;
  readonly untilReceivedBytes: bigint;
  readonly untilSentBytes: bigint;
};

/** The terms of one instance: the past ones in the order in which they ended, and the present ones. */
export type TermsHistory = { readonly past: readonly PastTerms[]; readonly present: Terms };

export type Counter = "runningMs" | "receivedBytes" | "sentBytes";

/** A part of a run's counters, all of it at the same terms. */
export type Segment = { readonly from: bigint; readonly to: bigint; readonly terms: Terms };

const MARKS = {
  runningMs: (past: PastTerms) => past.untilRunningMs,
  receivedBytes: (past: PastTerms) => past.untilReceivedBytes,
  sentBytes: (past: PastTerms) => past.untilSentBytes,
} as const satisfies Record<Counter, (past: PastTerms) => bigint>;

const PRICES = {
  runningMs: (terms: Terms) => `${terms.priceNanosPerHour} ${terms.discountPpm}`,
  receivedBytes: (terms: Terms) => `${terms.inetDownNanosPerGb}`,
  sentBytes: (terms: Terms) => `${terms.inetUpNanosPerGb}`,
} as const satisfies Record<Counter, (terms: Terms) => string>;

/**
 * Divides the counters of one generation by the terms they are charged at: below the mark of past terms those, and
 * beyond the last mark the terms at the end of the generation. Adjacent parts of equal cost are joined.
 */
export function segmentsOf(
  { past, present }: TermsHistory,
  { generation, counter }: { readonly generation: number; readonly counter: Counter },
  { from, to }: { readonly from: bigint; readonly to: bigint },
): readonly Segment[] {
  const segments: Segment[] = [];
  const add = (until: bigint, terms: Terms) => {
    const last = segments.at(-1);
    const begin = last?.to ?? from;
    const end = until < to ? until : to;
    if (end <= begin) return;
    const isSame = last !== undefined && PRICES[counter](last.terms) === PRICES[counter](terms);
    if (isSame) segments[segments.length - 1] = { ...last, to: end };
    else segments.push({ from: begin, to: end, terms });
  };
  for (const terms of past) if (terms.generation === generation) add(MARKS[counter](terms), terms);
  add(to, past.find((terms) => terms.generation > generation) ?? present);
  return segments;
}

/** A stretch of time in which storage cost the same. */
export type TermsPeriod = { readonly from: Date; readonly to: Date; readonly terms: Terms };

/** Divides a stretch of time by the price of storage in it. */
export function periodsOf(
  { past, present }: TermsHistory,
  { from, to }: { readonly from: Date; readonly to: Date },
): readonly TermsPeriod[] {
  const periods: TermsPeriod[] = [];
  const add = (until: Date, terms: Terms) => {
    const last = periods.at(-1);
    const begin = last?.to ?? from;
    const end = until < to ? until : to;
    if (end <= begin) return;
    const isSame = last?.terms.storageNanosPerGbMonth === terms.storageNanosPerGbMonth;
    if (last !== undefined && isSame) periods[periods.length - 1] = { ...last, to: end };
    else periods.push({ from: begin, to: end, terms });
  };
  for (const terms of past) add(terms.untilAt, terms);
  add(to, present);
  return periods;
}
